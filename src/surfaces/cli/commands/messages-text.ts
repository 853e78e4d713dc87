import type { listThreads, showThread } from '../../../features/workflow/threads/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { age, table } from '../output.ts';

export type Listed = Output<typeof listThreads>;
type Thread = Listed['items'][number];
type Shown = Output<typeof showThread>;

const line = (text: string): string => text.replaceAll(/\s+/g, ' ');
const toWhom = ({ to, recipients }: Thread): string => (recipients > 1 ? `${recipients} agents` : to.name);
const words = (subject: string | null): string => (subject === null ? '(for those who take part)' : line(subject));

/** What presses first, as the server has sorted it. */
export function threadTable({ pressing, items }: Pick<Listed, 'pressing' | 'items'>, now: number): string {
  const rows = [...pressing, ...items].map((thread) => [
    thread.id,
    thread.kind,
    thread.status,
    line(thread.from.name),
    line(toWhom(thread)),
    thread.due_at === null ? '—' : new Date(thread.due_at).toISOString().slice(0, 16),
    age(thread.sent_at, now),
    words(thread.subject),
  ]);
  return table(['ID', 'KIND', 'STATUS', 'FROM', 'TO', 'DUE', 'AGE', 'SUBJECT'], rows);
}

export function threadLines({ thread, entries, entries_cut, remindable_from }: Shown, now: number): string {
  const steps = thread.steps.map(({ step, state, at, count }) => {
    const how = state === 'partly' ? `by ${count} of ${thread.recipients}` : at === null ? (state === 'unknown' ? 'unknown' : 'no') : age(at, now);
    return state === 'none' ? '' : `${step} ${how}`;
  });
  return [
    `${thread.kind} ${thread.id}: ${thread.status}`,
    `${line(thread.from.name)} to ${line(toWhom(thread))}: ${steps.filter(Boolean).join(', ')}`,
    entries_cut > 0 ? `(${entries_cut} earlier left out)` : '',
    ...entries.map(
      ({ what, from, at, text }) =>
        `\n${line(from.name)}, ${age(at, now)}${what === 'reminder' ? ': reminded' : `\n${(text ?? '(for those who take part)').replaceAll(/^/gm, '  ')}`}`,
    ),
    thread.answerable ? `\n    next: covenant messages answer ${thread.id} TEXT` : '',
    !thread.answerable && remindable_from !== null ? `\n    next: covenant messages remind ${thread.id}` : '',
  ]
    .filter(Boolean)
    .join('\n');
}
