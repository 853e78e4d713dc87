import { Link } from '@tanstack/react-router';
import { useJournal } from '../../live/context.tsx';
import { Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { useChain } from './chain-check.ts';
import { ChainBar, ChainMark } from './chain-state.tsx';

/** Whether the list can be trusted, in short. */
export function ChainStrip() {
  const chain = useChain();
  const head = Math.max(chain.head, useJournal().state.events.at(-1)?.seq ?? 0);
  const { status, verifiedTo, root, firstBreak, at } = chain;
  return (
    <Section title="Chain" about={<ChainMark status={status} />}>
      <ChainBar chain={chain} head={head} />
      <p className="text-muted">
        {status === 'unchecked' && `${head.toLocaleString()} events, not checked since this page was opened.`}
        {status !== 'unchecked' && firstBreak === null && `Verified to ${verifiedTo.toLocaleString()} of ${head.toLocaleString()}`}
        {firstBreak && `Breaks at ${firstBreak.seq.toLocaleString()}; the ${verifiedTo.toLocaleString()} before it hold`}
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
        {status === 'unchecked' ? 'Verify the chain' : 'Open the chain'}
      </Link>
    </Section>
  );
}
