import type { EventView } from '../../api.ts';
import { ActorName } from '../../parts/actor-name.tsx';
import { State, type Tone } from '../../parts/layout.tsx';
import { Id, isId, UntrustedText } from '../../parts/values.tsx';

export type Category = EventView['category'];

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

/** Returns the outcome of the call or check that an event reports, if it reports one. */
export function outcomeOf({ payload }: Pick<EventView, 'payload'>): { word: string; tone: Tone } | undefined {
  const { outcome, passed } = payload;
  const word = typeof passed === 'boolean' ? (passed ? 'passed' : 'denied') : outcome;
  return typeof word === 'string' ? { word, tone: TONES[word] ?? 'quiet' } : undefined;
}

export function Subject({ subject }: { subject: string }) {
  const [, noun = '', id = subject] = /^([a-z]+:)(.+)$/.exec(subject) ?? [];
  if (id.startsWith('dev_')) return <ActorName actor={`developer:${id}`} />;
  if (!isId(id)) return <UntrustedText text={subject} brief />;
  return (
    <span>
      {noun}
      <Id id={id} />
    </span>
  );
}

/** Outcomes are single words. Longer text is cut to this length. */
const LONGEST_WORD = 16;

export function Outcome({ event }: { event: EventView }) {
  const outcome = outcomeOf(event);
  if (!outcome) return '—';
  const { word, tone } = outcome;
  return (
    <State tone={tone}>
      <UntrustedText text={word.length > LONGEST_WORD ? `${word.slice(0, LONGEST_WORD - 1)}…` : word} />
    </State>
  );
}

/** Returns the duration of the call that the event reports, such as "12 ms" or "1.2 s". Empty if the event is not about a call. */
export function durationOf({ payload }: Pick<EventView, 'payload'>): string {
  const ms = payload.duration_ms;
  if (typeof ms !== 'number') return '—';
  if (ms < 1_000) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
  return `${(ms / 1_000).toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
}
