import type { EventView } from '../../api.ts';
import type { Tone } from '../../parts/layout.tsx';
import { AgentName, shortId, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';

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

/** `codex@mira` for `agent:codex@dev_…`: the journal holds ids, people read names. An agent leads to its page. */
export function Who({ actor }: { actor: string }) {
  const developers = useRead('developers.list', {}).data?.items;
  const name = (id: string): string => developers?.find(({ developer_id }) => developer_id === id)?.name ?? shortId(id);
  const [, kind, agent, id] = /^(agent|developer|instance):(?:([^@]+)@)?([^@]+)$/.exec(actor) ?? [];
  if (id === undefined) return <UntrustedText text={actor} brief />;
  if (kind === 'instance') return <AgentName name={id} id={id} />;
  if (agent === undefined) return <UntrustedText text={name(id)} brief />;
  return <AgentName name={`${agent}@${name(id)}`} id={`${agent}@${id}`} />;
}
