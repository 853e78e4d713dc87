import { expect, test } from 'vitest';
import type { EngineKind } from '../storage/engine.ts';
import { brokerRepository, PSKS } from '../testing/scenes/cycle.ts';
import { teamApp } from '../testing/scenes/team.ts';
import { ENGINE, temporaryDatabase } from '../testing/store/database.ts';

const cache = { title: 'Cache thumbnail images in the gallery', task_type: 'feature', scope: 'Keep thumbnails on disk', target_files: ['src/ü.ts'] };
const sameCache = { ...cache, title: 'Store gallery thumbnails on disk' };
const claim = { operation: 'claim', repo: 'acme/app', paths: ['src/**'] };
const telemetry = { source: 'codex', payload: { model: 'gpt-5', usage: { input_tokens: 1_000, output_tokens: 20 } } };

/** Calls of every contract by two developers. Later calls use the ids that earlier calls created. */
async function afternoon(engine: EngineKind): Promise<unknown[]> {
  const app = await teamApp({ database: await temporaryDatabase(engine) });
  const repository_path = brokerRepository();
  const told: unknown[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: whatever a tool answers
  const call = async (caller: typeof app.ana, tool: string, args: object): Promise<any> => {
    app.clock.advance(1_000);
    const { body, isError } = await app.tool(tool, args, caller);
    told.push([tool, isError, body]);
    return body;
  };
  const { ana, ben } = app;
  await call(ana, 'covibe_session', { operation: 'start', repo: 'acme/app', branch: 'main' });
  for (const operation of ['check', 'start']) await call(ben, 'covibe_task', { operation, ...cache });
  for (const operation of ['check', 'plan', 'start']) await call(ana, 'covibe_task', { operation, ...sameCache });
  await call(ana, 'covibe_note', { kind: 'decision', title: 'Thumbnails live on disk' });
  for (const caller of [ana, ben]) await call(caller, 'covibe_coordination', claim);
  await call(ben, 'covibe_coordination', { operation: 'ask', to: 'ana', message: 'May I?' });
  await call(ana, 'covibe_session', { operation: 'heartbeat', registered_repos: ['b', 'a'] });
  await call(ana, 'covibe_session', { operation: 'publish_context', title: 'Cache', summary: 'Half done', repo: 'acme/app' });
  await call(ana, 'covibe_ingest_agent_telemetry', telemetry);
  await call(ben, 'covibe_session', { operation: 'get_context' });
  for (const operation of ['audit_parallel_work', 'state', 'feedback', 'generate_weekly_summary']) await call(ana, 'covibe_team', { operation });

  const { id } = await call(ana, 'workflow_create', { name: 'Ship it', source_type: 'prompt', source_content: 'Please.', repository_path: '/srv/app' });
  const tasks = ['Zürich', 'a', 'B'].map((name, at) => ({ name, description: '', sequence: at + 1 }));
  await call(ana, 'workflow_set_plan', { id, plan: { summary: 's', approach: 'a', tasks } });
  const agent_id = (await call(ana, 'agent_register', { name: 'Builder', runtime: 'codex' })).id;
  const { tasks: next } = await call(ana, 'workflow_next_tasks', { workflow_id: id });
  const task_id = next[0].id;
  for (const caller of [ana, ben]) await call(caller, 'task_claim', { task_id, agent_id });
  await call(ana, 'checkpoint_add', { task_id, agent_id, type: 'progress', summary: 'Begun', files_changed: ['src/ü.ts'] });
  await call(ana, 'message_send', { sender_id: agent_id, recipient_id: agent_id, message_type: 'query', body: 'x' });
  for (const tool of ['task_load_context', 'checkpoint_list']) await call(ben, tool, { task_id });
  await call(ben, 'workflow_list', {});

  const { session_token } = (await call(ana, 'session.open', { role: 'gemini', psk: PSKS.gemini, repository_path })).data;
  await call(ana, 'cycle.start', { feature: 'Search', repository_path });
  await call(ana, 'lock.acquire', { session_token, repository_path });
  await call(ben, 'cycle.status', { repository_path });
  for (const tool of ['clock', 'echo', 'nope']) await call(ben, tool, {});
  await call(ana, 'request_review', {});
  told.push(
    (await app.events()).map(({ seq, category, kind, actor, subject, payload }) => [seq, category, kind, actor, subject, payload.outcome, payload.code]),
  );
  return JSON.parse(unnamed(JSON.stringify(told).replaceAll(repository_path, '/repository')));
}

/** Only ids and secrets differ between runs: each becomes the number of its first appearance. Measured values are removed. */
function unnamed(text: string): string {
  const known = new Map<string, number>();
  const number = (id: string) => known.get(id) ?? known.set(id, known.size).size - 1;
  return text
    .replaceAll(/"token_estimate":\d+/g, '"token_estimate":0')
    .replaceAll(/\b(?:[a-z]{2,10}_[0-9A-Za-z_-]{12,60}|[0-9a-f]{40,64})\b/g, (id) => (/\d/.test(id) ? `id ${number(id)}` : id));
}

test.runIf(ENGINE === 'postgres')('both engines answer the same calls alike and write the same journal [storage.engines.same]', async () => {
  const [sqlite, postgres] = [await afternoon('sqlite'), await afternoon('postgres')];
  expect(sqlite.length).toBeGreaterThan(30);
  expect(postgres).toEqual(sqlite);
});
