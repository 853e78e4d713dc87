import type { Instance } from '../../api.ts';
import type { Tone } from '../../parts/layout.tsx';

type Status = Instance['status'];

export const STATUS_TONES: Record<Status, Tone> = {
  started: 'live',
  waiting_review: 'wait',
  pr_created: 'live',
  pr_merged: 'good',
  pr_closed: 'quiet',
  terminated: 'quiet',
  abandoned: 'bad',
};

/** Those whose work is not done with. */
export const OPEN: Status[] = ['started', 'waiting_review', 'pr_created', 'pr_closed'];

/** In which its work is under way, and so may still be reviewed. */
export const AT_WORK: readonly Status[] = ['started', 'waiting_review'];

/** What its agent runs in; where it does not, that. */
export const processOf = ({ running, session_kind }: Pick<Instance, 'running' | 'session_kind'>): string => (running ? (session_kind ?? 'starting') : 'ended');

const OUTCOMES: Record<string, Tone> = { approved: 'good', needs_work: 'bad', suggestions: 'wait', clarification: 'wait', timeout: 'bad' };
export const outcomeTone = (outcome: string | null): Tone => (outcome === null ? 'live' : (OUTCOMES[outcome] ?? 'quiet'));

/** A status or an outcome as people say it; without one it goes on. */
export const inWords = (outcome: string | null): string => outcome?.replaceAll('_', ' ') ?? 'under way';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** "40 s", "12 m", "3 h 5 m". */
export function tookFrom(start: number, end: number): string {
  const ms = Math.max(0, end - start);
  if (ms < MINUTE) return `${Math.round(ms / 1_000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m`;
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} m`;
}

/** "+12 −3"; never by colour alone, and what is not known is a dash. */
export function LinesChanged({ added, removed }: { added: number | null; removed: number | null }) {
  return (
    <span className="whitespace-nowrap">
      <span className="text-good">{added === null ? '—' : `+${added.toLocaleString()}`}</span>{' '}
      <span className="text-bad">{removed === null ? '—' : `−${removed.toLocaleString()}`}</span>
    </span>
  );
}

export function PullLink({ instance: { pr_number, pr_url } }: { instance: Instance }) {
  if (pr_number === null) return '—';
  // The address is GitHub's word: anything but the web is shown as text.
  if (!pr_url?.match(/^https?:\/\//)) return `#${pr_number}`;
  return (
    <a className="link" href={pr_url} target="_blank" rel="noreferrer">
      #{pr_number}
    </a>
  );
}
