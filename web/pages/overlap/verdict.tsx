import type { Overlap } from '../../api.ts';
import { Said } from '../../parts/said.tsx';
import { State, type Tone } from '../../parts/tone.tsx';

const LEVELS: Record<Overlap['level'], Tone> = { warn: 'quiet', escalated: 'wait' };

export const Level = ({ level }: Pick<Overlap, 'level'>) => <State tone={LEVELS[level]}>{level}</State>;

/** How it stands: what was judged by its verdict, the rest by its status. */
export function Verdict({ overlap: { status, verdict, level } }: { overlap: Overlap }) {
  if (verdict) return <State tone={verdict === 'distinct' ? 'good' : 'wait'}>{verdict}</State>;
  if (status === 'open') return <State tone={level === 'escalated' ? 'you' : 'quiet'}>open</State>;
  return <State tone={status === 'dismissed' ? 'quiet' : 'good'}>{status}</State>;
}

/** What was resolved by nobody had nothing left to judge. */
export function JudgedBy({ overlap: { status, judged_by } }: { overlap: Overlap }) {
  if (judged_by !== null) return <Said text={judged_by} brief />;
  return <span className="text-muted">{status === 'open' ? '—' : 'by itself'}</span>;
}
