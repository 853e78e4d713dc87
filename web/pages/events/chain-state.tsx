import { State, type Tone } from '../../parts/tone.tsx';
import type { ChainState } from './chain-check.ts';

const LOOK: Record<ChainState['status'], { tone: Tone; word: string }> = {
  unchecked: { tone: 'quiet', word: 'not checked' },
  running: { tone: 'live', word: 'checking' },
  intact: { tone: 'good', word: 'verified' },
  broken: { tone: 'bad', word: 'broken' },
  stopped: { tone: 'quiet', word: 'stopped' },
  failed: { tone: 'wait', word: 'unfinished' },
};

export function ChainMark({ status }: { status: ChainState['status'] }) {
  const { tone, word } = LOOK[status];
  return <State tone={tone}>{word}</State>;
}

/** How far the chain holds: green what was verified, red where it breaks. Its numbers stand beside it in words. */
export function ChainBar({ chain: { verifiedTo, firstBreak }, head }: { chain: ChainState; head: number }) {
  const share = head === 0 ? 0 : Math.min(1, verifiedTo / head);
  return (
    <svg aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none" className="h-2 w-full rounded bg-quiet-tint">
      <rect width={share * 100} height="4" className="fill-good" />
      {firstBreak && <rect x={Math.min(99, share * 100)} width="1" height="4" className="fill-bad" />}
    </svg>
  );
}
