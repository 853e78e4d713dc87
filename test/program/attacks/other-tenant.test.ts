import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { covenant, direct, ROOT, startProgram } from '../../../src/testing/programs/program.ts';
import { temporaryRepository } from '../../../src/testing/scenes/repository.ts';
import { signInBy } from '../../../src/testing/scenes/signin.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';
import { until } from '../../../src/testing/until.ts';

const CHILD = `command = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(join(ROOT, 'src/testing/programs/children/plain.mjs'))}]\n`;

test("the admin of a second workspace reaches neither another tenant's tools nor the machine [harden.workspaces.unknown-outside] [harden.workspaces.setting] [harden.instances.server-permission]", async () => {
  const at = { home: temporaryFolder() };
  writeFileSync(
    join(at.home, 'secrets.toml'),
    `[[mcp.server]]\nname = "bank"\n${CHILD}\n[[mcp.server]]\nname = "mall"\nworkspaces = ["default", "shop"]\n${CHILD}`,
    { mode: 0o600 },
  );
  const { url } = await startProgram(at);
  const run = async (...args: string[]) => (await covenant(at, ...args, '--json')).json;
  const isUp = async (name: string) => {
    const { items } = (await run('servers', 'list')) as { items: { name: string }[] };
    expect(items.find((item) => item.name === name)).toMatchObject({ state: 'up' });
  };
  await until(() => isUp('bank'));

  // The first developer of the workspace `shop` is its admin. After she has signed in, she can give herself every grant.
  const mallory = await run('tokens', 'create', '--developer', 'mallory', '--agent', 'codex', '--workspace', 'shop');
  const { url: link } = (await run('open', '--developer', 'mallory', '--workspace', 'shop')) as { url: string };
  const session = await signInBy(link);
  const act = async (action: string, input: object) => (await session.action(action, input, { origin: url })).body;
  expect(await act('identity.me', {})).toMatchObject({ operator: true });
  for (const tool of ['bank_echo', 'mall_echo', 'dank_echo']) {
    expect(await act('capabilities.grant', { action: `tool.call.${tool}`, token: mallory.token_id })).toMatchObject({ action: `tool.call.${tool}` });
  }
  const call = async (tool: string) => JSON.stringify((await direct(url, String(mallory.token), tool, { text: 'mine' })).body).replaceAll(tool, 'NAME');
  const stolen = await call('bank_echo');
  expect(stolen).toContain('UNKNOWN_TOOL');
  const unlike = (body: string) => body.replace(/"request_id":"[^"]*"/, '');
  expect(unlike(stolen)).toBe(unlike(await call('dank_echo')));
  await until(() => isUp('mall'));
  expect(await call('mall_echo')).toContain('mine');
  const seen = await Promise.all(['tools.list', 'tools.page', 'tools.usage', 'capabilities.matrix'].map((action) => act(action, {})));
  expect(JSON.stringify(seen)).not.toMatch(/"bank["_]/);
  expect(JSON.stringify(seen)).toContain('"mall_echo"');

  const start = { repository_path: temporaryRepository().path, type: 'coding', prompt: 'x' };
  expect(await act('instances.start', start)).toMatchObject({ code: 'MACHINE_PERMISSION_REQUIRED' });
  expect(await act('developers.set_run_agents', { developer: 'mallory', allowed: true })).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  expect(await run('developers', 'allow', 'mallory', '--run-agents', '--workspace', 'shop')).toMatchObject({ name: 'mallory', run_agents: true });
  expect(await act('instances.start', { ...start, agent: 'no-such-launcher' })).not.toMatchObject({ code: 'MACHINE_PERMISSION_REQUIRED' });
  expect(await run('developers', 'disallow', 'mallory', '--run-agents', '--workspace', 'shop')).toMatchObject({ run_agents: false });
  // The account that `covenant up` has created for the operator has the permission.
  expect(await run('developers', 'list')).toMatchObject({ items: [{ role: 'admin', run_agents: true }] });
}, 60_000);
