import { Tally } from '../../src/features/core/events/index.ts';
import { DEFAULT_WORKSPACE_ID } from '../../src/kernel/ids.ts';
import { checkDatabaseFile } from '../../src/storage/inspect.ts';
import { readEvents } from '../../src/storage/journal.ts';
import { openApp } from '../app.ts';
import { madeTask } from '../tasks.ts';
import type { FilledStore } from './filled-store.ts';

export const AREAS = ['agents', 'workflows', 'journal', 'pages', 'server'] as const;
export type GrowthArea = (typeof AREAS)[number];

export interface Operation {
  readonly area: GrowthArea;
  readonly name: string;
  /** True if the operation's answer, or the data that it must read, grows with the store. The time of such an operation may grow too. */
  readonly whole?: true;
  /** True if the operation is measured only on SQLite, because it works on the database file. */
  readonly sqliteOnly?: true;
  /** Prepares a run. Its time is not measured. */
  readonly before?: (filled: FilledStore, n: number) => Promise<unknown>;
  readonly work: (filled: FilledStore, n: number, made: unknown) => Promise<unknown>;
  readonly after?: (filled: FilledStore, given: unknown) => Promise<unknown>;
}

/** The operation that shows the base cost of every tool call, which is to write its journal entry to disk. */
export const FLOOR = 'a no-op call';

type Fields = Record<string, unknown>;
const tool = (area: GrowthArea, name: string, call: string, args: (filled: FilledStore, n: number) => Fields = () => ({})): Operation => ({
  area,
  name,
  work: (filled, n) => filled.tool(call, args(filled, n)),
});
const page = (call: string, args: (filled: FilledStore) => Fields = () => ({}), name = call): Operation => ({
  area: 'pages',
  name,
  work: (filled) => filled.action(call, args(filled)),
});
const events = (name: string, args: (filled: FilledStore) => Fields): Operation => ({
  area: 'journal',
  name,
  work: (filled) => filled.action('events.list', args(filled)),
});

/** Returns the fields of a new task. Its title is not similar to any other title, new or existing. */
const fresh = (n: number): Fields => {
  const { title, scope, files } = madeTask(50_000_000 + n);
  return { title, scope, task_type: 'feature', target_files: files };
};
let drawn = 0;

const check = async (filled: FilledStore): Promise<Fields> => {
  const words = fresh(drawn++);
  const { check_id } = await filled.tool('covibe_task', { operation: 'check', ...words });
  return { ...words, check_id };
};
const start = async (filled: FilledStore): Promise<Fields> => await filled.tool('covibe_task', { operation: 'start', ...(await check(filled)) });
const complete = (filled: FilledStore, given: unknown) =>
  filled.tool('covibe_task', { operation: 'complete', task_id: (given as Fields).task_id, result_summary: 'Done.' });
const available = async (filled: FilledStore): Promise<unknown> => {
  const { tasks } = await filled.tool('workflow_next_tasks', { workflow_id: filled.workflow, limit: 1 });
  return (tasks as { id: string }[])[0]?.id;
};

const AGENTS: readonly Operation[] = [
  { area: 'agents', name: FLOOR, work: (filled) => filled.tool('clock', {}) },
  { area: 'agents', name: 'task check', work: check },
  {
    area: 'agents',
    name: 'task start',
    before: check,
    work: (filled, _, made) => filled.tool('covibe_task', { operation: 'start', ...(made as Fields) }),
    after: complete,
  },
  { area: 'agents', name: 'task complete', before: start, work: (filled, _, made) => complete(filled, made) },
  {
    area: 'agents',
    name: 'claim files',
    work: (filled, n) => filled.tool('covibe_coordination', { operation: 'claim', repo: 'github.com/acme/app', paths: [`claimed/${n}.ts`] }),
    after: (filled, given) => filled.tool('covibe_coordination', { operation: 'release', claim_id: (given as Fields).claim_id }),
  },
  tool('agents', 'coordination list', 'covibe_coordination', () => ({ operation: 'list' })),
  tool('agents', 'team state', 'covibe_team', () => ({ operation: 'state' })),
  tool('agents', 'weekly summary', 'covibe_team', () => ({ operation: 'generate_weekly_summary' })),
  tool('agents', 'session heartbeat', 'covibe_session', ({ session }) => ({ operation: 'heartbeat', session_id: session })),
  {
    area: 'agents',
    name: 'hook before a tool',
    work: (filled, n) => filled.hook('before-tool', { edits: [{ repo: 'github.com/acme/app', path: `src/${n}.ts` }] }),
  },
  { area: 'agents', name: 'hook after a tool', work: (filled) => filled.hook('after-tool') },
  {
    area: 'agents',
    name: 'hook after compaction',
    before: (filled) => filled.hook('compact'),
    work: (filled) => filled.hook('session-start', { source: 'compact' }),
  },
];

const WORKFLOWS: readonly Operation[] = [
  tool('workflows', 'next tasks', 'workflow_next_tasks', ({ workflow }) => ({ workflow_id: workflow })),
  tool('workflows', 'available tasks', 'task_get_available', ({ registered }) => ({ agent_id: registered })),
  {
    area: 'workflows',
    name: 'claim a task',
    before: available,
    work: (filled, _, made) => filled.tool('task_claim', { task_id: made, agent_id: filled.registered }),
  },
  tool('workflows', 'progress', 'workflow_progress', ({ workflow }) => ({ workflow_id: workflow })),
  tool('workflows', 'list', 'workflow_list'),
  {
    area: 'workflows',
    name: 'recovery pack',
    before: available,
    work: (filled, _, made) => filled.tool('task_load_context', { task_id: made }),
  },
  tool('workflows', 'unread messages', 'message_list', ({ registered }) => ({ agent_id: registered })),
  tool('workflows', 'agent heartbeat', 'agent_heartbeat', ({ registered }) => ({ agent_id: registered })),
];

const JOURNAL: readonly Operation[] = [
  events('newest page', () => ({ latest: 200 })),
  events('by subject', ({ known }) => ({ subject: known.task, before: Number.MAX_SAFE_INTEGER, limit: 50 })),
  events('by actor', ({ known }) => ({ actor: known.actor, before: Number.MAX_SAFE_INTEGER, limit: 50 })),
  events('by text without a match', () => ({ text: 'nowhere-to-be-found', before: Number.MAX_SAFE_INTEGER, limit: 50 })),
  { area: 'journal', name: 'daily counts, first read', work: ({ app }) => new Tally().read(app.store.reader, DEFAULT_WORKSPACE_ID, Date.now()) },
  { area: 'journal', name: 'daily counts, later reads', work: (filled) => filled.action('events.rate', {}) },
  { area: 'journal', name: 'verify all events', whole: true, work: verify },
  {
    area: 'journal',
    name: 'export one page',
    work: ({ app, size }) => readEvents(app.store.reader, DEFAULT_WORKSPACE_ID, Math.floor(size / 2), 500),
  },
];

async function verify({ action }: FilledStore): Promise<void> {
  for (let from: Fields = {}, done = false; !done; ) {
    const { verified_to, root, first_break, done: over } = await action('events.verify', { ...from, limit: 10_000 });
    if (first_break !== null) throw new Error(`the chain is broken: ${JSON.stringify(first_break)}`);
    from = { after: verified_to, previous: root };
    done = over === true;
  }
}

const PAGES: readonly Operation[] = [
  page('agents.list', () => ({ limit: 200 })),
  page('agents.lanes', () => ({ hours: 12 })),
  page('news.list'),
  page('waiting.list'),
  page('team.first_steps'),
  page('questions.list'),
  page('approvals.list'),
  page('overlap.list', () => ({ open: true, level: 'escalated', limit: 100 }), 'overlap.list: open'),
  page('overlap.list', () => ({ limit: 50 })),
  page('instances.list', () => ({ status: ['started', 'waiting_review'], type: 'coding', limit: 200 }), 'instances.list: running'),
  // `whole`, because the answer includes the total number of instances.
  { ...page('instances.list', () => ({ limit: 100 })), whole: true },
  page('instances.show', ({ known }) => ({ instance_id: known.instance })),
  page('tasks.list'),
  page('tasks.list', () => ({ repository: 'app' }), 'tasks.list: of a repository'),
  page('tasks.list', () => ({ owner: 'developer-3' }), 'tasks.list: of an owner'),
  page('tasks.list', () => ({ status: ['cancelled'] }), 'tasks.list: cancelled'),
  page('tasks.list', () => ({ status: ['planned', 'active', 'blocked'] }), 'tasks.list: open'),
  page('tasks.show', ({ known }) => ({ task_id: known.task })),
  page('tasks.owners'),
  { ...page('workstreams.show', ({ known }) => ({ workstream_id: known.workstream })), whole: true },
  page('workflows.list'),
  page('workflows.show', ({ workflow }) => ({ workflow_id: workflow })),
  page('claims.list'),
  page('coordination.board'),
  page('messages.threads'),
  page('sessions.list'),
  page('usage.list', () => ({ days: 30 }), 'usage.list: 30 days'),
  page('usage.list', () => ({ days: 30, by: ['task'] }), 'usage.list: by task'),
  page('tools.usage'),
  page('tokens.list', () => ({ status: 'live' })),
  page('devices.list', () => ({ limit: 50 })),
  page('lookup.find', () => ({ text: 'nowhere to be found' }), 'lookup.find: words'),
  page('lookup.find', ({ known }) => ({ text: known.task }), 'lookup.find: an id'),
  page('lookup.find', ({ known }) => ({ text: known.task.slice(-8) }), 'lookup.find: end of an id'),
];

const SERVER: readonly Operation[] = [
  { area: 'server', name: 'start', work: ({ place }) => openApp(place), after: (_, app) => (app as FilledStore['app']).close() },
  { area: 'server', name: 'status', work: (filled) => filled.action('server.status', {}) },
  { area: 'server', name: 'doctor file check', whole: true, sqliteOnly: true, work: ({ place }) => checkDatabaseFile(place.path) },
];

/** All measured operations: frequent and occasional ones, of agents, people and the server. */
export const OPERATIONS: readonly Operation[] = [...AGENTS, ...WORKFLOWS, ...JOURNAL, ...PAGES, ...SERVER];
