import { type AnswerTo, call, calling } from '../call.ts';
import { type CliCommand, given, option, UsageError } from '../command.ts';
import { age, counted, indented, oneLine, table } from '../output.ts';

export type MessageList = AnswerTo<'messages.threads'>;
type Thread = MessageList['items'][number];

const toWhom = ({ to, recipients }: Thread): string => (recipients > 1 ? `${recipients} agents` : to.name);
const words = (subject: string | null): string => (subject === null ? '(for those who take part)' : oneLine(subject));

/** The most urgent threads first, in the order of the server. */
export function threadTable({ pressing, items }: Pick<MessageList, 'pressing' | 'items'>, now: number): string {
  const rows = [...pressing, ...items].map((thread) => [
    thread.id,
    thread.kind,
    thread.status,
    oneLine(thread.from.name),
    oneLine(toWhom(thread)),
    thread.due_at === null ? '—' : new Date(thread.due_at).toISOString().slice(0, 16),
    age(thread.sent_at, now),
    words(thread.subject),
  ]);
  return table(['ID', 'KIND', 'STATUS', 'FROM', 'TO', 'DUE', 'AGE', 'SUBJECT'], rows);
}

export function threadLines({ thread, entries, entries_cut, remindable_from }: AnswerTo<'messages.thread'>, now: number): string {
  const steps = thread.steps.map(({ step, state, at, count }) => {
    const how = state === 'partly' ? `by ${count} of ${thread.recipients}` : at === null ? (state === 'unknown' ? 'unknown' : 'no') : age(at, now);
    return state === 'none' ? '' : `${step} ${how}`;
  });
  return [
    `${thread.kind} ${thread.id}: ${thread.status}`,
    `${oneLine(thread.from.name)} to ${oneLine(toWhom(thread))}: ${steps.filter(Boolean).join(', ')}`,
    entries_cut > 0 ? `(${entries_cut} earlier left out)` : '',
    ...entries.map(
      ({ what, from, at, text }) =>
        `\n${oneLine(from.name)}, ${age(at, now)}${what === 'reminder' ? ': reminded' : `\n${indented(text ?? '(for those who take part)')}`}`,
    ),
    thread.answerable ? `\n    next: covenant messages answer ${thread.id} TEXT` : '',
    !thread.answerable && remindable_from !== null ? `\n    next: covenant messages remind ${thread.id}` : '',
  ]
    .filter(Boolean)
    .join('\n');
}

/** Messages between agents and people, for people at a terminal. */
export const messageCommands: readonly CliCommand[] = [
  calling({
    name: 'messages list',
    summary: 'Asks, questions, messages, handoffs and announcements: what was not delivered or is overdue first. --kind, --state and --repo narrow it.',
    options: { kind: { type: 'string' }, state: { type: 'string' }, repo: { type: 'string' } },
    action: 'messages.threads',
    kind: 'thread_list',
    text(threads) {
      const none = 'Nothing was said yet.\n    next: covenant messages send TEXT';
      const listed = threads.pressing.length + threads.items.length === 0 ? none : threadTable(threads, Date.now());
      return `${listed}${threads.next === null ? '' : '\n(there are older ones)'}`;
    },
  }),
  calling({
    name: 'messages show',
    summary: 'Everything that was said in a thread, and how far it has come.',
    positionals: { ID: 'id' },
    action: 'messages.thread',
    kind: 'thread',
    text: (shown) => threadLines(shown, Date.now()),
  }),
  {
    name: 'messages send',
    summary:
      'Send a message to all agents that are at work, or only to those of --role. With --to team --developer NAME it is announced to the team in their name.',
    positionals: ['TEXT'],
    options: { to: { type: 'string' }, role: { type: 'string' }, developer: { type: 'string' } },
    async run(invocation) {
      const [message] = invocation.positionals;
      if (option(invocation, 'to') === 'team' && option(invocation, 'developer') === undefined) throw new UsageError('--to team needs --developer NAME');
      const sent = await call(invocation, 'messages.broadcast', { message, to: 'agents', ...given(invocation, 'to', 'role', 'developer') });
      const { good, quiet } = invocation.out.mark;
      const who = sent.sent_count === null ? 'Announced to the team' : `Sent to ${counted(sent.sent_count, 'agent')}`;
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
      const answered = await call(invocation, 'messages.answer', { id, answer });
      const task = answered.task_status === null ? '' : ` Its task is ${answered.task_status}.`;
      return { json: { ...answered, what: answered.kind, kind: 'message_answered' }, text: `${invocation.out.mark.good} Answered ${answered.id}.${task}` };
    },
  },
  {
    name: 'messages remind',
    summary: 'Remind whom an ask, a query or a question was put to that it is unanswered; once in 15 minutes.',
    positionals: ['ID'],
    async run(invocation) {
      const reminded = await call(invocation, 'messages.remind', { id: invocation.positionals[0] });
      const told =
        reminded.told === 0 ? 'No agent of theirs is at work: people see it on the dashboard.' : `${reminded.told} of their agents get it as a message.`;
      return { json: { ...reminded, what: reminded.kind, kind: 'message_reminded' }, text: `${invocation.out.mark.good} Reminded of ${reminded.id}. ${told}` };
    },
  },
];
