import { Link } from '@tanstack/react-router';
import { useJournal } from '../../live/live-journal.tsx';
import { Section, State, type Tone } from '../../parts/layout.tsx';
import { counted, Time } from '../../parts/values.tsx';
import { type ChainState, useChain } from './chain-check.ts';

/** Shows the state of the chain in a short form beside the list of events. */
export function ChainStrip() {
  const chain = useChain();
  const head = Math.max(chain.head, useJournal().state.events.at(-1)?.seq ?? 0);
  const { status, verifiedTo, root, firstBreak, at } = chain;
  return (
    <Section title="Chain" about={<ChainMark status={status} />}>
      <ChainBar chain={chain} head={head} />
      <p className="text-muted">
        {status === 'unchecked' && `${counted(head, 'event')}, not verified yet.`}
        {status !== 'unchecked' && firstBreak === null && `Verified to ${verifiedTo.toLocaleString()} of ${head.toLocaleString()}`}
        {firstBreak && `Broken at event ${firstBreak.seq.toLocaleString()}; ${counted(verifiedTo, 'event')} before it intact`}
        {at !== null && (
          <>
            {' · '}
            <Time at={at} />
          </>
        )}
      </p>
      {root !== null && status === 'intact' && (
        <p className="text-muted">
          Root <code title={root}>{`${root.slice(0, 4)}…${root.slice(-4)}`}</code>
        </p>
      )}
      <Link to="/activity/chain" className="link justify-self-start">
        {status === 'unchecked' ? 'Verify chain' : 'Open chain'}
      </Link>
    </Section>
  );
}

const LOOK: Record<ChainState['status'], { tone: Tone; word: string }> = {
  unchecked: { tone: 'quiet', word: 'not verified' },
  running: { tone: 'live', word: 'verifying' },
  intact: { tone: 'good', word: 'verified' },
  broken: { tone: 'bad', word: 'broken' },
  stopped: { tone: 'quiet', word: 'stopped' },
  failed: { tone: 'wait', word: 'incomplete' },
};

export function ChainMark({ status }: { status: ChainState['status'] }) {
  const { tone, word } = LOOK[status];
  return <State tone={tone}>{word}</State>;
}

/** Draws the verified part of the chain in green and a break in red. The numbers are in the text beside it. */
export function ChainBar({ chain: { verifiedTo, firstBreak }, head }: { chain: ChainState; head: number }) {
  const share = head === 0 ? 0 : Math.min(1, verifiedTo / head);
  return (
    <svg aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none" className="h-2 w-full rounded bg-quiet-tint">
      <rect width={share * 100} height="4" className="fill-good" />
      {firstBreak && <rect x={Math.min(99, share * 100)} width="1" height="4" className="fill-bad" />}
    </svg>
  );
}
