import type { Insertable } from 'kysely';
import { ensureDeveloper, ensureWorkspace, issueToken } from '../../src/features/core/identity/index.ts';
import { indexItems, markFiles, RECENT_MS } from '../../src/features/team/overlap/index.ts';
import { DEFAULT_WORKSPACE_ID as workspace } from '../../src/kernel/ids.ts';
import { openStore, type Store } from '../../src/storage/open.ts';
import { chunks, newId } from '../../src/storage/rows.ts';
import type { Database } from '../../src/storage/schema-rows.ts';
import type { Tx } from '../../src/storage/write.ts';
import type { Place } from '../app.ts';
import { type Agent, eventOf, type Moment, moments, REPOSITORY, STEP_MS } from './history.ts';
import { rowsOf } from './rows.ts';
import { WORKFLOW_EVERY, workflowRows } from './workflow-rows.ts';

const DEVELOPERS = 20;
const AGENT_TYPES = ['claude-code', 'codex'] as const;
const BATCH_SIZE = 1_000;
/** The most parameters in one statement. Both engines accept this many. */
const MAX_PARAMETERS = 16_000;

/**
 * Fills an empty store with a history of `size` tasks and events. Rows are inserted in bulk. Events are written by the product's own journal code, which chains
 * them.
 */
export async function fill({ path, url }: Place, size: number): Promise<void> {
  const end = Date.now();
  const clock = { now: Math.floor(end - (size + 1) * STEP_MS) };
  const store = await openStore({ path, url, now: () => clock.now, statementTimeoutMs: 600_000 });
  try {
    const agents = await team(store);
    const workstreams = await workstreamsOf(store, agents);
    let some: Moment[] = [];
    const write = () =>
      store.write(workspace, async (tx) => {
        await insert(tx, some, (id) => workstreams.get(id) as string);
        for (const moment of some) {
          clock.now = moment.time;
          tx.append(eventOf(moment));
        }
        await index(
          tx,
          some.filter(({ isOpen, time }) => isOpen || time + STEP_MS > end - RECENT_MS),
        );
        some = [];
      });
    for (const moment of moments(size, end, agents)) {
      some.push(moment);
      if (some.length === BATCH_SIZE) await write();
    }
    if (some.length > 0) await write();
  } finally {
    await store.close();
  }
}

const team = (store: Store): Promise<Agent[]> =>
  store.write(workspace, async (tx) => {
    await ensureWorkspace(tx, 'operator');
    const agents: Agent[] = [];
    for (let n = 0; n < DEVELOPERS; n++) {
      const { id: developerId } = await ensureDeveloper(tx, `developer-${n}`, 'operator');
      for (const agentType of AGENT_TYPES) {
        const { token } = await issueToken(tx, { kind: 'agent', developerId, agentType, expiresAt: null, by: 'operator' });
        agents.push({ developerId, agentType, actor: `agent:${agentType}@${developerId}`, tokenId: token.id });
      }
    }
    return agents;
  });

/** Makes one workstream per developer, which contains the developer's whole history. It shows whether a query for tasks of a workstream reads all of them. */
const workstreamsOf = (store: Store, agents: readonly Agent[]): Promise<Map<string, string>> =>
  store.write(workspace, async (tx) => {
    const found = new Map<string, string>();
    for (const developer_id of new Set(agents.map(({ developerId }) => developerId))) {
      const id = newId('wst', tx.now);
      found.set(developer_id, id);
      const { now: created_at } = tx;
      await tx.db
        .insertInto('workstreams')
        .values({
          workspace_id: workspace,
          id,
          developer_id,
          session_id: null,
          title: 'All work',
          description: null,
          status: 'active',
          auto_created: 0,
          result_summary: null,
          reason: null,
          created_at,
          updated_at: created_at,
          closed_at: null,
        })
        .execute();
    }
    return found;
  });

async function insert(tx: Tx, some: readonly Moment[], workstreamOf: (developerId: string) => string): Promise<void> {
  const tables = new Map<keyof Database, object[]>();
  for (const moment of some) {
    const all = { ...rowsOf(moment, workstreamOf), ...(moment.n % WORKFLOW_EVERY === 0 && workflowRows(moment)) };
    for (const [table, rows] of Object.entries(all) as [keyof Database, object[]][]) {
      const known = tables.get(table);
      if (known) known.push(...rows);
      else tables.set(table, [...rows]);
    }
  }
  for (const [table, rows] of tables) {
    const columns = Object.keys(rows[0] as object).length;
    for (const part of chunks(rows, Math.floor(MAX_PARAMETERS / columns))) {
      await tx.db
        .insertInto(table)
        .values(part as Insertable<Database[typeof table]>[])
        .execute();
    }
  }
}

/** Adds open and recently finished items to the overlap index. In a real store, the server would already have removed older items from the index. */
async function index(tx: Tx, some: readonly Moment[]): Promise<void> {
  await indexItems(
    tx,
    some.map(({ taskId, agent, task: { title, scope, files }, isOpen, time }) => ({
      id: taskId,
      kind: 'task',
      ownerId: agent.developerId,
      title,
      scope,
      description: null,
      action: null,
      component: null,
      taskType: 'feature',
      status: isOpen ? 'active' : 'completed',
      repo: REPOSITORY,
      files,
      closedAt: isOpen ? null : Math.floor(time + STEP_MS),
    })),
  );
  for (const { taskId, agent, task } of some.filter(({ isOpen }) => isOpen)) {
    const holder = {
      source: 'task',
      sourceId: taskId,
      developerId: agent.developerId,
      repo: REPOSITORY,
      action: null,
      label: task.title,
      expiresAt: null,
    } as const;
    await markFiles(tx, holder, task.files);
  }
}
