import type { answerThread, broadcastByHand, listThreads, remindThread, showThread } from '../../../features/workflow/messages/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand, given, option, UsageError } from '../command.ts';
import { age, table } from '../output.ts';

export type MessageList = Output<typeof listThreads>;
type Thread = MessageList['items'][number];
type Shown = Output<typeof showThread>;

const line = (text: string): string => text.replaceAll(/\s+/g, ' ');
const toWhom = ({ to, recipients }: Thread): string => (recipients > 1 ? `${recipients} agents` : to.name);
const words = (subject: string | null): string => (subject === null ? '(for those who take part)' : line(subject));

/** What presses first, as the server has sorted it. */
export function threadTable({ pressing, items }: Pick<MessageList, 'pressing' | 'items'>, now: number): string {
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

/** What the server answers, by its own contract. */
interface Answers {
  'messages.threads': Output<typeof listThreads>;
  'messages.thread': Output<typeof showThread>;
  'messages.answer': Output<typeof answerThread>;
  'messages.remind': Output<typeof remindThread>;
  'messages.broadcast': Output<typeof broadcastByHand>;
}

const ask = asking<Answers>();

/** What agents and people say to each other, for people at a terminal. */
export const messageCommands: readonly CliCommand[] = [
  {
    name: 'messages list',
    summary: 'Asks, questions, messages, handoffs and announcements: what was not delivered or is overdue first. --kind, --state and --repo narrow it.',
    options: { kind: { type: 'string' }, state: { type: 'string' }, repo: { type: 'string' } },
    async run(invocation) {
      const list = await ask(invocation, 'messages.threads', given(invocation, 'kind', 'state', 'repo'));
      const none = 'Nothing was said yet.\n    next: covenant messages send TEXT';
      const text = list.pressing.length + list.items.length === 0 ? none : threadTable(list, Date.now());
      return { json: { kind: 'thread_list', ...list }, text: `${text}${list.next === null ? '' : '\n(there are older ones)'}` };
    },
  },
  {
    name: 'messages show',
    summary: 'Everything that was said in a thread, and how far it has come.',
    positionals: ['ID'],
    async run(invocation) {
      const shown = await ask(invocation, 'messages.thread', { id: invocation.positionals[0] });
      return { json: { kind: 'thread', ...shown }, text: threadLines(shown, Date.now()) };
    },
  },
  {
    name: 'messages send',
    summary:
      'Send a message to all agents that are at work, or only to those of --role. With --to team --developer NAME it is announced to the team in their name.',
    positionals: ['TEXT'],
    options: { to: { type: 'string' }, role: { type: 'string' }, developer: { type: 'string' } },
    async run(invocation) {
      const [message] = invocation.positionals;
      if (option(invocation, 'to') === 'team' && option(invocation, 'developer') === undefined) throw new UsageError('--to team needs --developer NAME');
      const sent = await ask(invocation, 'messages.broadcast', { message, to: 'agents', ...given(invocation, 'to', 'role', 'developer') });
      const { good, quiet } = invocation.out.mark;
      const who = sent.sent_count === null ? 'Announced to the team' : `Sent to ${sent.sent_count} agent${sent.sent_count === 1 ? '' : 's'}`;
      const text = sent.id === null ? `${quiet} No agent is at work: nobody got it.` : `${good} ${who} (${sent.id}).`;
      return { json: { ...sent, kind: 'message_sent' }, text };
    },
  },
  {
    name: 'messages answer',
    summary: 'Answer a question of an agent, or an ask in the place of whom it was put to. Write -- before a TEXT that starts with a dash.',
    positionals: ['ID', 'TEXT'],
    async run(invocation) {
      const [id, answer] = invocation.positionals;
      const answered = await ask(invocation, 'messages.answer', { id, answer });
      const task = answered.task_status === null ? '' : ` Its task is ${answered.task_status}.`;
      return { json: { ...answered, what: answered.kind, kind: 'message_answered' }, text: `${invocation.out.mark.good} Answered ${answered.id}.${task}` };
    },
  },
  {
    name: 'messages remind',
    summary: 'Remind whom an ask, a query or a question was put to that it is unanswered; once in 15 minutes.',
    positionals: ['ID'],
    async run(invocation) {
      const reminded = await ask(invocation, 'messages.remind', { id: invocation.positionals[0] });
      const told =
        reminded.told === 0 ? 'No agent of theirs is at work: people see it on the dashboard.' : `${reminded.told} of their agents get it as a message.`;
      return { json: { ...reminded, what: reminded.kind, kind: 'message_reminded' }, text: `${invocation.out.mark.good} Reminded of ${reminded.id}. ${told}` };
    },
  },
];
