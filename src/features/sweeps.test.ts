import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { TestApp } from '../testing/app.ts';
import { workflowApp } from '../testing/scenes/workflow.ts';
import { ENGINE } from '../testing/store/database.ts';
import { until } from '../testing/until.ts';

const BETA = 'ws_beta';
const HOUR_MS = 3_600_000;

/** From now on, every write that changes such a row fails. */
async function spoil({ app }: TestApp, table: string, rows: string): Promise<void> {
  const trigger = `create trigger spoilt_${table} before update on ${table} when ${rows} begin select raise(abort, 'this row is bad'); end`;
  await app.store.engine.transaction('ws_default', (db) => sql.raw(trigger).execute(db));
}

// A SQLite trigger makes the bad row; the sweep handles it in the same way on both engines.
test.runIf(ENGINE === 'sqlite')('a row that cannot be settled does not stop the sweep of other claims and agents in any workspace', async () => {
  const t = await workflowApp();
  const zoe = await t.developer('zoe', undefined, BETA);
  const claim = (path: string, caller = t.ana) =>
    t.tool('covibe_coordination', { operation: 'claim', repo: 'acme/app', paths: [path], ttl_minutes: 10 }, caller);
  const claimed = [await claim('a.ts'), await claim('b.ts', t.ben), await claim('c.ts', zoe)].map(({ reply }) => reply.data as { claim_id: string });
  const agents = [await t.agent(), await t.agent(), await t.agent(zoe)];
  await spoil(t, 'claims', `old.id = '${claimed[0]?.claim_id}'`);
  await spoil(t, 'agents', `old.id = '${agents[0]}'`);
  t.clock.advance(HOUR_MS);
  const subjects = async (kind: string) => [...(await t.events({ kind })), ...(await t.events({ kind }, BETA))].map(({ subject }) => subject);
  await until(async () => expect(await subjects('claim.expired')).toEqual(claimed.slice(1).map(({ claim_id }) => claim_id)));
  await until(async () => expect(await subjects('agent.offline')).toEqual(agents.slice(1)));
  expect(t.logged.filter((line) => line.includes('this row is bad')).length).toBeGreaterThan(0);
});

test.runIf(ENGINE === 'sqlite')('a question that cannot expire does not stop others, nor does a lost session', async () => {
  const t = await workflowApp();
  const zoe = await t.developer('zoe', undefined, BETA);
  const ask = async (caller = t.ana) => {
    const { ids } = await t.planned(['one'], { caller });
    const { agent_id } = await t.started(ids.one as string, caller);
    const words = { sender_id: agent_id, recipient_id: 'human', message_type: 'query', body: 'Which port?', task_id: ids.one, expires_in_minutes: 1 };
    return String(((await t.tool('message_send', words, caller)).reply.data as { id: string }).id);
  };
  const start = async (caller = t.ana) =>
    String(((await t.tool('covibe_session', { operation: 'start', repo: 'acme/app' }, caller)).reply.data as { session_id: string }).session_id);
  const questions = [await ask(), await ask(t.ben), await ask(zoe)];
  const sessions = [await start(), await start(t.ben), await start(zoe)];
  await spoil(t, 'messages', `old.id = '${questions[0]}'`);
  await spoil(t, 'agent_sessions', `old.id = '${sessions[0]}'`);
  t.clock.advance(8 * 24 * HOUR_MS);
  const subjects = async (kind: string) => [...(await t.events({ kind })), ...(await t.events({ kind }, BETA))].map(({ subject }) => subject);
  await until(async () => expect(await subjects('question.expired')).toEqual(questions.slice(1)));
  await until(async () => expect(await subjects('session.ended')).toEqual(sessions.slice(1)));
});

test.runIf(ENGINE === 'sqlite')('tasks of a plan are indexed even if those of another workspace cannot be', async () => {
  const t = await workflowApp();
  const zoe = await t.developer('zoe', undefined, BETA);
  await t.planned(['one']);
  await t.planned(['two'], { caller: zoe });
  const { store } = t.app;
  for (const workspace of ['ws_default', BETA])
    await store.write(workspace, ({ db }) => db.updateTable('workflow_tasks').set({ indexed: 0 }).where('workspace_id', '=', workspace).execute());
  await spoil(t, 'workflow_tasks', `old.workspace_id = '${BETA}'`);
  t.clock.advance(2_000);
  const left = async () =>
    (await store.reader.selectFrom('workflow_tasks').select('workspace_id').where('indexed', '=', 0).execute()).map((row) => row.workspace_id);
  await until(async () => expect(await left()).toEqual([BETA]));
});
