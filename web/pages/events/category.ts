import type { EventView } from '../../api.ts';
import type { Tone } from '../../parts/tone.tsx';

export type Category = EventView['category'];

/** All of them: the compiler sees to it. */
const LABELS: Record<Category, string> = { usage: 'Usage', work: 'Work', feedback: 'Feedback', audit: 'Audit' };

export const CATEGORIES = Object.entries(LABELS) as [Category, string][];

const TONES: Record<string, Tone> = {
  ok: 'good',
  passed: 'good',
  warning: 'wait',
  blocked: 'wait',
  input_required: 'you',
  denied: 'bad',
  error: 'bad',
  failed: 'bad',
};
export const OUTCOMES = Object.keys(TONES);

/** How it ended, where the event says so: a call by its outcome, a check by whether it passed. */
export function outcomeOf({ payload }: Pick<EventView, 'payload'>): { word: string; tone: Tone } | undefined {
  const { outcome, passed } = payload;
  const word = typeof passed === 'boolean' ? (passed ? 'passed' : 'denied') : outcome;
  return typeof word === 'string' ? { word, tone: TONES[word] ?? 'quiet' } : undefined;
}
