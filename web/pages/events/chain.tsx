import { Link } from '@tanstack/react-router';
import { useJournal } from '../../live/live-journal.tsx';
import { ActButton } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Notice, Problem, Section } from '../../parts/layout.tsx';
import { counted, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { type ChainState, forgetAnchor, stopVerifying, useChain, verifyChain } from './chain-check.ts';
import { ChainBar, ChainMark } from './chain-state.tsx';

/** The page that verifies that nobody has changed the journal. */
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
        <Section title="Journal chain" about={<ChainMark status={chain.status} />}>
          <p className="text-muted">
            Each event has a hash of its content and of the previous hash. An event cannot be changed, removed or inserted without breaking the chain. Verifying
            reads every event and recomputes every hash.
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
          {chain.error && <Problem what="The verification was interrupted." error={chain.error} onRetry={verify} />}
          <Findings chain={chain} workspace={workspace} />
        </Section>
        <Section title="Command line">
          <p className="text-muted">
            The operator can verify the chain outside of the server. Store an anchor on another machine to detect later whether the whole journal was rewritten.
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
      return `${counted(head, 'event')}, not verified yet.`;
    case 'running':
      return `Verified ${of}.`;
    case 'stopped':
    case 'failed':
      return `Stopped after ${of}.`;
    case 'intact':
      return begin && begin.seq > 0
        ? `Events ${(begin.seq + 1).toLocaleString()} to ${verifiedTo.toLocaleString()}, no gaps, chain intact.`
        : `${counted(verifiedTo, 'event')}, no gaps, chain intact.`;
    case 'broken':
      return firstBreak && at !== null
        ? `The chain breaks at event ${firstBreak.seq.toLocaleString()}.`
        : 'This is not the journal that this browser verified before.';
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
            : {firstBreak.reason}. The {counted(verifiedTo, 'event')} before it are intact. First make a backup, then compare your last anchor.
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
            The chain is intact, but event {anchor.seq.toLocaleString()} differs from the one that this browser verified <Time at={anchor.at} />. The journal
            was rewritten or started again.
          </p>
          <button type="button" className="button mt-2 text-text" onClick={() => workspace !== undefined && forgetAnchor(workspace)}>
            Forget the old journal
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
            Verified: at !== null && <Time at={at} />,
            Anchor: anchor !== null && anchorHolds === true && (
              <>
                Event {anchor.seq.toLocaleString()} is unchanged since this browser verified it <Time at={anchor.at} />.
              </>
            ),
          }}
        />
      )}
    </>
  );
}
