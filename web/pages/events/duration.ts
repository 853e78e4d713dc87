import type { JournalEvent } from '../../api.ts';

/** How long the call took, where the event is of one: "12 ms", "1.2 s". */
export function durationOf({ payload }: Pick<JournalEvent, 'payload'>): string {
  const ms = payload.duration_ms;
  if (typeof ms !== 'number') return '—';
  if (ms < 1_000) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
  return `${(ms / 1_000).toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
}
