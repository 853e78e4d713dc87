import { type AnswerTo, call, calling } from '../call.ts';
import { type CliCommand, given, type Invocation, option, UsageError } from '../command.ts';
import { age, counted, indented, oneLine, type TableShape, table } from '../output.ts';
import { questionLines } from './questions-text.ts';

export type MessageList = AnswerTo<'messages.threads'>;
type Thread = MessageList['items'][number];

/** The same lists as in the contract. They are repeated here, because importing the contract would load the schema library. A test compares them. */
export const KINDS = ['ask', 'question', 'message', 'handoff', 'announcement'] as const;
export const STATES = ['undelivered', 'overdue', 'unanswered'] as const;

const toWhom = ({ to, recipients }: Thread): string => (recipients > 1 ? `${recipients} agents` : to.name);
const words = (subject: string | null): string => (subject === null ? '(private)' : oneLine(subject));

const THREADS: TableShape = {
  head: ['ID', 'KIND', 'STATUS', 'FROM', 'TO', 'DUE', 'AGE', 'SUBJECT'],
  narrow: [
    ['DUE', 0],
    ['SUBJECT', 16],
    ['TO', 0],
    ['FROM', 12],
    ['KIND', 0],
    ['SUBJECT', 8],
  ],
};

/** Lists the most urgent threads first. The server has already sorted the threads. */
export function threadTable({ pressing, items }: Pick<MessageList, 'pressing' | 'items'>, now: number, columns?: number): string {
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
  return table(THREADS, rows, columns);
}

export function threadLines({ thread, entries, entries_cut, remindable_from }: AnswerTo<'messages.thread'>, now: number): string {
  const steps = thread.steps.map(({ step, state, at, count }) => {
    const how = state === 'partly' ? `by ${count} of ${thread.recipients}` : at === null ? (state === 'unknown' ? 'unknown' : 'no') : age(at, now);
    return state === 'none' ? '' : `${step} ${how}`;
  });
  return [
    `${thread.kind} ${thread.id}: ${thread.status}`,
    `${oneLine(thread.from.name)} to ${oneLine(toWhom(thread))}: ${steps.filter(Boolean).join(', ')}`,
    entries_cut > 0 ? `(${entries_cut} earlier messages are left out)` : '',
    ...entries.map(
      ({ what, from, at, text }) => `\n${oneLine(from.name)}, ${age(at, now)}${what === 'reminder' ? ': reminded' : `\n${indented(text ?? '(private)')}`}`,
    ),
    thread.answerable ? `\n    next: covenant messages answer ${thread.id} TEXT` : '',
    !thread.answerable && remindable_from !== null ? `\n    next: covenant messages remind ${thread.id}` : '',
  ]
    .filter(Boolean)
    .join('\n');
}

/** Shows the threads as a table. With `--kind question`, shows the open questions in full before the table. */
async function listText(invocation: Invocation, threads: MessageList): Promise<string> {
  const [now, { columns }] = [Date.now(), invocation.out];
  const older = threads.next === null ? '' : '\n(older ones exist)';
  if (option(invocation, 'kind') !== 'question') {
    const none = 'No messages yet.\n    next: covenant messages send TEXT';
    return `${threads.pressing.length + threads.items.length === 0 ? none : threadTable(threads, now, columns)}${older}`;
  }
  const open = (await call(invocation, 'questions.list')).items;
  const isOpen = new Set(open.map(({ question_id }) => question_id));
  const [pressing, items] = [threads.pressing, threads.items].map((all) => all.filter(({ id }) => !isOpen.has(id))) as [Thread[], Thread[]];
  const questions =
    open.length === 0 ? 'No agent waits for an answer.' : `${questionLines(open, now)}\n    next: covenant messages answer ${open[0]?.question_id} TEXT`;
  return [questions, pressing.length + items.length === 0 ? '' : threadTable({ pressing, items }, now, columns)].filter(Boolean).join('\n\n') + older;
}

export const messageCommands: readonly CliCommand[] = [
  {
    name: 'messages list',
    summary: 'List messages, questions, asks, handoffs and announcements.',
    description: 'Lists undelivered and overdue messages first, then the newest. `--kind question` prints the open questions in full.',
    options: {
      kind: { value: 'KIND', choices: KINDS, description: 'Only this kind.' },
      state: { value: 'STATE', choices: STATES, description: 'Only threads in this state.' },
      repo: { value: 'NAME', description: 'Only threads about the repository with this name.' },
    },
    examples: ['messages list', 'messages list --kind question'],
    async run(invocation) {
      const threads = await call(invocation, 'messages.threads', given(invocation, 'kind', 'state', 'repo'));
      return { json: { kind: 'thread_list', ...threads }, text: invocation.json ? '' : await listText(invocation, threads) };
    },
  },
  calling({
    name: 'messages show',
    summary: 'Show all messages of a thread, and who has received and read them.',
    arguments: [{ name: 'ID', description: 'The id of any message in the thread, or the last characters of the id.', field: 'id' }],
    examples: ['messages show 4KQ2ZP'],
    action: 'messages.thread',
    kind: 'thread',
    text: (shown) => threadLines(shown, Date.now()),
  }),
  {
    name: 'messages send',
    summary: 'Send a message to the agents at work, or announce it to the team.',
    arguments: [{ name: 'TEXT', description: 'The message. Write -- before a text that begins with a dash.' }],
    options: {
      to: {
        value: 'WHOM',
        choices: ['agents', 'team'],
        description: '`agents` sends the message to all agents at work. `team` announces it to the team, and needs `--developer`.',
        default: 'agents',
      },
      role: { value: 'ROLE', choices: ['coordinator', 'worker'], description: 'Only agents with this role.' },
      developer: { value: 'NAME', description: 'The developer in whose name the announcement is made.' },
    },
    examples: ['messages send "Main is frozen until 15:00"', 'messages send "We move to Node 24" --to team --developer mira'],
    async run(invocation) {
      const [message] = invocation.positionals;
      if (option(invocation, 'to') === 'team' && option(invocation, 'developer') === undefined)
        throw new UsageError('`--to team` needs `--developer`, for example --to team --developer mira');
      const sent = await call(invocation, 'messages.broadcast', { message, to: 'agents', ...given(invocation, 'to', 'role', 'developer') });
      const { good, quiet } = invocation.out.mark;
      const who = sent.sent_count === null ? 'Announced to the team' : `Sent to ${counted(sent.sent_count, 'agent')}`;
      const text = sent.id === null ? `${quiet} No agent is at work, so nobody received the message.` : `${good} ${who} (${sent.id}).`;
      return { json: { ...sent, kind: 'message_sent' }, text };
    },
  },
  {
    name: 'messages answer',
    summary: 'Answer a question or an ask of an agent.',
    description: 'The task that waits for the answer continues.',
    arguments: [
      { name: 'ID', description: 'The id of the question, or the last characters of the id.' },
      { name: 'TEXT', description: 'The answer. Write -- before a text that begins with a dash.' },
    ],
    examples: ['messages answer 4KQ2ZP "Port 8080"', 'messages answer 4KQ2ZP -- "-1 means no limit"'],
    async run(invocation) {
      const [id, answer] = invocation.positionals;
      const answered = await call(invocation, 'messages.answer', { id, answer });
      const task = answered.task_status === null ? '' : ` Its task is ${answered.task_status}.`;
      return { json: { ...answered, what: answered.kind, kind: 'message_answered' }, text: `${invocation.out.mark.good} Answered ${answered.id}.${task}` };
    },
  },
  {
    name: 'messages remind',
    summary: 'Send a reminder of an unanswered ask or question.',
    description: 'You can send at most one reminder of a message in 15 minutes.',
    arguments: [{ name: 'ID', description: 'The id of the ask or question, or the last characters of the id.' }],
    examples: ['messages remind 4KQ2ZP'],
    async run(invocation) {
      const reminded = await call(invocation, 'messages.remind', { id: invocation.positionals[0] });
      const told =
        reminded.told === 0
          ? 'None of the recipients has an agent at work. People see the reminder on the dashboard.'
          : `Sent to ${counted(reminded.told, 'agent')}.`;
      return { json: { ...reminded, what: reminded.kind, kind: 'message_reminded' }, text: `${invocation.out.mark.good} Reminded of ${reminded.id}. ${told}` };
    },
  },
];
