import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reply } from '../../../kernel/reply.ts';
import { clearStage } from '../../../surfaces/demo-agents/clear.ts';
import { testApp } from '../../../testing/app.ts';
import { fakeUpstreams } from '../../../testing/stand-ins/fake-upstreams.ts';
import { DEMO_WORKSPACE_ID } from './index.ts';

async function services() {
  const t = await testApp({ upstreams: fakeUpstreams().create });
  const act = async (name: string, args: object = {}): Promise<Reply<unknown>> =>
    (await t.app.dispatch.action({ name, args, principal: t.operator.principal, surface: 'api', workspace: 'demo' })).reply;
  return { ...t, act, folder: join(t.app.config.home, 'demo') };
}

test('refuses to start or end a demo in another workspace, because its end deletes data', async () => {
  const t = await services();
  for (const [name, args] of [
    ['demo.begin', {}],
    ['demo.end', { keep: false }],
  ] as const)
    expect((await t.action(name, args)).reply).toMatchObject({ status: 'error', code: 'INVALID_INPUT' });
});

test('runs one demo at a time, and removes a kept demo only on request', async () => {
  const t = await services();
  expect(await t.act('demo.begin')).toMatchObject({ status: 'ok', data: { folder: t.folder } });
  expect(await t.act('demo.begin')).toMatchObject({ code: 'DEMO_RUNNING', next: expect.stringContaining('--clean') });
  expect(await t.act('demo.end', { keep: true })).toMatchObject({ data: { kept: true, removed_rows: 0 } });
  expect(await t.act('demo.begin')).toMatchObject({ code: 'DEMO_KEPT' });
  expect(existsSync(t.folder)).toBe(true);
  await t.act('demo.end', { keep: false });
  expect(existsSync(t.folder)).toBe(false);
  expect(await t.act('demo.begin')).toMatchObject({ status: 'ok' });
});

test('starts and ends no demo if people work in the workspace demo', async () => {
  const t = await services();
  await t.developer('ana', 'codex', DEMO_WORKSPACE_ID);
  const tokens = () => t.app.store.reader.selectFrom('tokens').select(['id', 'revoked_at']).where('workspace_id', '=', DEMO_WORKSPACE_ID).execute();
  const before = await tokens();
  expect(await t.act('demo.begin')).toMatchObject({ code: 'WORKSPACE_TAKEN' });
  expect(await t.act('demo.show')).toMatchObject({ data: { state: 'none' } });
  expect(await t.act('demo.end', { keep: false })).toMatchObject({ status: 'ok', data: { revoked_tokens: 0, removed_rows: 0 } });
  expect(await tokens()).toEqual(before);
});

test('keeps the data of people who joined after the demo ended, even if the demo is ended again', async () => {
  const t = await services();
  await t.act('demo.begin');
  await t.act('demo.end', { keep: false });
  await t.developer('ana', 'codex', DEMO_WORKSPACE_ID);
  expect(await t.act('demo.end', { keep: false })).toMatchObject({ data: { removed_rows: 0 } });
  expect(await t.act('demo.begin')).toMatchObject({ code: 'WORKSPACE_TAKEN' });
  const { reader } = t.app.store;
  expect(await reader.selectFrom('tokens').select('id').where('workspace_id', '=', DEMO_WORKSPACE_ID).execute()).toHaveLength(1);
});

test('ends no agents if there is no demo', async () => {
  const called: string[] = [];
  const act = async (name: string) => {
    called.push(name);
    return { state: 'ended', items: [{ id: 'work-1', ended_at: null }] };
  };
  expect(await clearStage(act, false)).toMatchObject({ removed_rows: 0 });
  expect(called).toEqual(['demo.show']);
});

test('the end of a demo revokes every token and deletes every row except the journal; it changes no other workspace', async () => {
  const t = await services();
  await t.act('demo.begin');
  const made = (await t.act('tokens.create', { developer: 'ana', agent: 'codex', expires_in_minutes: 15 })) as unknown as { data: { token: string } };
  await t.act('capabilities.grant', { action: 'tool.call.echo', developer: 'ana' });
  await t.developer('mira');
  mkdirSync(join(t.folder, 'shop'), { recursive: true });
  writeFileSync(join(t.folder, 'shop', 'a'), 'a');

  await t.act('demo.end', { keep: false });
  expect(await t.app.authenticate(made.data.token, 'bearer')).toEqual({ rejected: 'unknown' });
  const rows = async (workspace: string) => {
    const { reader } = t.app.store;
    const count = async (table: 'tokens' | 'developers' | 'grants') =>
      (await reader.selectFrom(table).select('workspace_id').where('workspace_id', '=', workspace).execute()).length;
    return [await count('tokens'), await count('developers'), await count('grants')];
  };
  expect(await rows(DEMO_WORKSPACE_ID)).toEqual([0, 0, 0]);
  expect(Math.min(...(await rows('ws_default')))).toBeGreaterThan(0);
  const kinds = (await t.events({}, DEMO_WORKSPACE_ID)).map(({ kind }) => kind);
  expect(kinds.at(0)).toBe('workspace.created');
  expect(kinds).toContain('demo.ended');
});

test('refuses a token after it expires', async () => {
  const t = await services();
  const made = (await t.act('tokens.create', { developer: 'ana', expires_in_minutes: 15 })) as unknown as { data: { token: string } };
  t.clock.advance(15 * 60_000);
  expect(await t.app.authenticate(made.data.token, 'bearer')).toHaveProperty('principal');
  t.clock.advance(1);
  expect(await t.app.authenticate(made.data.token, 'bearer')).toEqual({ rejected: 'expired' });
});
