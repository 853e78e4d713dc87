import type { JournalEvent } from '../../api.ts';
import type { Tone } from '../../parts/tone.tsx';

export type Category = JournalEvent['category'];

/** All of them: the compiler sees to it. */
const LABELS: Record<Category, string> = { usage: 'Usage', work: 'Work', feedback: 'Feedback', audit: 'Audit' };

export const CATEGORIES = Object.entries(LABELS) as [Category, string][];

export const categoryOf = (value: unknown): Category | undefined => CATEGORIES.find(([category]) => category === value)?.[0];

const OUTCOMES: Record<string, Tone> = { ok: 'good', warning: 'wait', blocked: 'wait', denied: 'bad', error: 'bad' };

/** How it ended, where the event says so. */
export function outcomeOf({ payload }: JournalEvent): { word: string; tone: Tone } | undefined {
  const { outcome, passed } = payload;
  if (typeof passed === 'boolean') return passed ? { word: 'passed', tone: 'good' } : { word: 'denied', tone: 'bad' };
  return typeof outcome === 'string' ? { word: outcome, tone: OUTCOMES[outcome] ?? 'quiet' } : undefined;
}
