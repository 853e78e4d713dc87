import { CompiledQuery, type KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { findByText } from '../src/features/people/lookup/tools.ts';
import { agentTokens, instancesSince, readFirstSteps, registeredAgents, tasksAtWork } from '../src/features/people/roster/store.ts';
import { failuresOf } from '../src/features/review/instances/failures.ts';
import { listInstances } from '../src/features/review/instances/store.ts';
import { unseenHandoffsTo } from '../src/features/team/coordination/store.ts';
import { notesOfSession } from '../src/features/team/notes/tools.ts';
import { lastActivities } from '../src/features/team/sessions/store.ts';
import { openTaskIds, orphanTasks, taskNamed, tasksBy, tasksInHand } from '../src/features/team/tasks/store.ts';
import { usageSums } from '../src/features/team/usage/store.ts';
import { undeliveredThreads } from '../src/features/workflow/messages/thread-store.ts';
import type { Principal } from '../src/kernel/call.ts';
import type { Db } from '../src/storage/engine.ts';
import { openStore } from '../src/storage/open.ts';
import type { InstanceRow } from '../src/storage/schema-rows.ts';
import { whenOver } from '../src/testing/scope.ts';
import { temporaryDatabase } from '../src/testing/store/database.ts';

const W = 'ws_default';

type Lookup = [what: string, ask: (db: Db) => Promise<unknown>, plan: RegExp];

const findAnything = (db: Db) => findByText(db, { workspace: W, operator: true } as Principal, '0123ABCD', 10);

/** The lookups, each with the index that SQLite must use. An empty store is sufficient, because SQLite plans queries only by the schema. */
const LOOKUPS: readonly Lookup[] = [
  ['the open tasks of a workstream', (db) => openTaskIds(db, W, 'wst_1'), /tasks_workstream \(workspace_id=\? AND workstream_id=\? AND status=\?\)/],
  ['tasks without a workstream, at the start', (db) => orphanTasks(db, 10), /tasks_unplaced/],
  ['the tasks that an agent works on', (db) => tasksInHand(db, W, { sessionId: 'ses_1', actor: 'operator', since: 0 }, 10), /tasks_open/],
  ['the tasks in progress', (db) => tasksAtWork(db, W), /tasks_open/],
  ['a page of open tasks', (db) => tasksBy(db, W, { statuses: ['planned', 'active'], limit: 10 }), /tasks_open/],
  ['a page of tasks with one status', (db) => tasksBy(db, W, { statuses: ['cancelled'], limit: 10 }), /tasks_status \(workspace_id=\? AND status=\?\)/],
  ['a page of tasks of a developer', (db) => tasksBy(db, W, { developerId: 'dev_1', limit: 10 }), /tasks_owner \(workspace_id=\? AND developer_id=\?\)/],
  ['a task by the end of its id', (db) => taskNamed(db, W, 'ABCDEF').catch(() => {}), /tasks_ending \(<expr>=\? AND workspace_id=\?\)/],
  ...['tasks', 'workflow_tasks', 'instances', 'overlap_warnings', 'claims', 'messages', 'asks', 'handoffs', 'approvals', 'tokens'].map(
    (table): Lookup => [`something of ${table} by the end of its id`, findAnything, new RegExp(`\\b${table}_ending \\(<expr>=`)],
  ),
  ['the notes of a session', (db) => notesOfSession(db, W, 'ses_1', 10), /notes_session/],
  [
    'the last activities of sessions',
    (db) => lastActivities(db, W, ['ses_1', 'ses_2']),
    /line USING INDEX \S+ \(workspace_id=\? AND session_id=\? AND id=\?\)/,
  ],
  ['the first overlap that needed a verdict', (db) => readFirstSteps(db, W), /overlap_warnings_escalated/],
  ['threads that have not reached their agent', (db) => undeliveredThreads(db, W, 0, 1, 10), /messages_undelivered/],
  ['handoffs that an agent has not seen', (db) => unseenHandoffsTo(db, W, 'dev_1', 'codex', { seenUpTo: 'handoff_1', onlyUnseen: true }, 10), /handoffs_to/],
  ["agents' tokens", (db) => agentTokens(db, W), /tokens_of_agents/],
  ['agents that are online', (db) => registeredAgents(db, W), /agents_listed \(workspace_id=\? AND status=\?\)/],
  ['instances that ended recently', (db) => instancesSince(db, W, 1), /instances_ended \(workspace_id=\? AND ended_at>\?\)/],
  ['running instances', (db) => listInstances(db, W, { status: ['started'], limit: 10, offset: 0 }), /instances_status \(workspace_id=\? AND status=\?\)/],
  [
    "an instance's failures",
    (db) => failuresOf(db, { workspace_id: W, id: 'work-1-a1', created_at: 0 } as InstanceRow),
    /events_actor \(workspace_id=\? AND actor=\?\)/,
  ],
  ['what each task cost', (db) => usageSums(db, W, 1, ['task'], []), /tasks_session \(workspace_id=\? AND session_id=\? AND started_at<\?\)/],
];

test.each(LOOKUPS)('a narrow index finds %s, however large the table is', async (_, ask, plan) => {
  const { path } = await temporaryDatabase('sqlite');
  const store = await openStore({ path, now: Date.now, statementTimeoutMs: 1_000 });
  whenOver(() => store.close());
  const asked: CompiledQuery[] = [];
  const listening: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      asked.push(store.reader.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await ask(store.reader.withPlugin(listening));
  const plans: string[] = [];
  for (const { sql, parameters } of asked) {
    const { rows } = await store.reader.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]));
    plans.push(...rows.map(({ detail }) => detail));
  }
  expect(plans.join('\n')).toMatch(plan);
});
