import type { Thresholds } from '../../api.ts';

/** The bar ends at so many times the threshold: further on, more says no more. */
const SCALE = 3;

/** How alike two pieces of work are, with the floor of a warning and the threshold of an escalation marked on it. */
export function Score({ score, settings, legend = false }: { score: number; settings: Thresholds | undefined; legend?: boolean }) {
  if (!settings) return <span>{shown(score)}</span>;
  const { warn, escalate } = settings;
  const end = Math.max(escalate * SCALE, 1);
  const at = (value: number): string => `${Math.min(100, (100 * value) / end)}%`;
  const isHigh = score >= escalate;
  return (
    <div className={legend ? 'grid gap-1' : 'flex items-center gap-2'}>
      <span className={legend ? 'font-medium' : 'w-8 shrink-0 text-right'}>
        {legend && 'Score '}
        {shown(score)}
      </span>
      <span className="sr-only">
        {isHigh ? 'at or above' : 'below'} the threshold of {shown(escalate)}, floor {shown(warn)}
      </span>
      <div aria-hidden="true" title={`floor ${shown(warn)} · threshold ${shown(escalate)}`} className="relative h-3 min-w-12 flex-1">
        <div className="absolute inset-x-0 top-1 h-1 rounded-full bg-line" />
        <div className={`absolute top-1 left-0 h-1 rounded-full ${isHigh ? 'bg-wait' : 'bg-control'}`} style={{ width: at(score) }} />
        <div className="absolute top-0 h-3 w-px bg-muted" style={{ left: at(warn) }} />
        <div className="absolute top-0 h-3 w-0.5 bg-text" style={{ left: at(escalate) }} />
      </div>
      {legend && (
        <p aria-hidden="true" className="flex flex-wrap items-center gap-x-1.5 text-label text-muted">
          <span className="h-3 w-px bg-muted" /> floor {shown(warn)}
          <span className="ml-2 h-3 w-0.5 bg-text" /> threshold {shown(escalate)}
        </p>
      )}
    </div>
  );
}

const shown = (score: number): string => score.toFixed(1);
