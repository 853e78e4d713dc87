import { Link } from '@tanstack/react-router';
import { useJournal } from '../../live/live-journal.tsx';
import { ActButton } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Notice, Problem, Section } from '../../parts/layout.tsx';
import { counted, dateOf, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { type ChainState, forgetAnchor, stopVerifying, useChain, verifyChain } from './chain-check.ts';
import { ChainBar, ChainMark } from './chain-state.tsx';

/** Verifies that the journal was not changed. */
export function Chain() {
  const chain = useChain();
  const workspace = useRead('identity.me', {}).data?.workspace;
  const head = Math.max(chain.head, useJournal().state.events.at(-1)?.seq ?? 0);
  const running = chain.status === 'running';
  const verify = (): void => {
    if (workspace !== undefined) void verifyChain(workspace);
  };
  return (
    <>
      <title>Chain · Covenant</title>
      <div className="grid max-w-3xl gap-6">
        <Section title="The journal's chain" about={<ChainMark status={chain.status} />}>
          <p className="text-muted">
            Each event carries a hash over itself and the hash before it, so that none can be changed, removed or put in between without breaking the chain.
            Checking reads every event and computes every hash anew.
          </p>
          <ChainBar chain={chain} head={head} />
          <p role="status">{words(chain, head)}</p>
          <div className="flex flex-wrap gap-2">
            <ActButton look="primary" pending={running} disabled={workspace === undefined} onClick={verify}>
              {chain.status === 'unchecked' ? 'Verify chain' : 'Verify again'}
            </ActButton>
            {running && (
              <button type="button" className="button" onClick={stopVerifying}>
                Stop
              </button>
            )}
          </div>
          {chain.error && <Problem what="The check could not go on." error={chain.error} onRetry={verify} />}
          <Findings chain={chain} workspace={workspace} />
        </Section>
        <Section title="From a shell">
          <p className="text-muted">
            The operator's check reads the events and computes the hashes outside of the server. An anchor that is kept elsewhere shows later whether the whole
            was rewritten.
          </p>
          <CliCommand words="audit verify" />
          <CliCommand words="audit anchor" />
        </Section>
      </div>
    </>
  );
}

function words({ status, begin, verifiedTo, firstBreak, at }: ChainState, head: number): string {
  const of = `${verifiedTo.toLocaleString()} of ${counted(head, 'event')}`;
  switch (status) {
    case 'unchecked':
      return `${counted(head, 'event')}, not checked since this page was opened.`;
    case 'running':
      return `Checked ${of}.`;
    case 'stopped':
    case 'failed':
      return `Checked ${of}, then ended.`;
    case 'intact':
      return begin && begin.seq > 0
        ? `Events ${(begin.seq + 1).toLocaleString()} to ${verifiedTo.toLocaleString()}, no gaps, chain intact.`
        : `${counted(verifiedTo, 'event')}, no gaps, chain intact.`;
    case 'broken':
      return firstBreak && at !== null
        ? `The chain breaks at event ${firstBreak.seq.toLocaleString()}.`
        : 'The journal is not the one that was verified here before.';
  }
}

function Findings({ chain, workspace }: { chain: ChainState; workspace: string | undefined }) {
  const { root, begin, verifiedTo, at, firstBreak, anchor, anchorHolds } = chain;
  return (
    <>
      {firstBreak && (
        <Notice tone="bad" role="alert">
          <p>
            <strong className="font-semibold">
              Event {firstBreak.seq.toLocaleString()}
              {firstBreak.kind !== null && (
                <>
                  {' '}
                  (<UntrustedText text={firstBreak.kind} />)
                </>
              )}
            </strong>
            : {firstBreak.reason}. The {counted(verifiedTo, 'event')} before it hold. Keep a copy before anything else, then compare your last anchor.
          </p>
          <div className="mt-2 grid gap-2 text-text">
            <CliCommand words="backup" />
            {firstBreak.kind !== null && (
              <Link to="/activity" search={{ event: firstBreak.seq }} className="link justify-self-start">
                Open event {firstBreak.seq.toLocaleString()}
              </Link>
            )}
          </div>
        </Notice>
      )}
      {anchor && anchorHolds === false && !firstBreak && (
        <Notice tone="bad" role="alert">
          <p>
            The chain holds in itself, but event {anchor.seq.toLocaleString()} is not what this browser verified on {dateOf(anchor.at)}: the journal was
            rewritten, or begun anew.
          </p>
          <button type="button" className="button mt-2 text-text" onClick={() => workspace !== undefined && forgetAnchor(workspace)}>
            It was rightly begun anew: forget the old one
          </button>
        </Notice>
      )}
      {root !== null && (
        <Facts
          facts={{
            'Verified to': verifiedTo.toLocaleString(),
            Root: (
              <span className="flex flex-wrap items-center gap-2">
                <code>{root}</code>
                <CopyButton text={`${verifiedTo} ${root}`} label="Copy anchor" />
              </span>
            ),
            'Pruned to': begin !== null && begin.seq > 0 && (
              <>
                {begin.seq.toLocaleString()} · <code>{begin.hash}</code>
              </>
            ),
            Checked: at !== null && <Time at={at} />,
            'As before':
              anchor !== null && anchorHolds === true && `Event ${anchor.seq.toLocaleString()} is still what this browser verified on ${dateOf(anchor.at)}.`,
          }}
        />
      )}
    </>
  );
}
