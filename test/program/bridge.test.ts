import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import type { StdioServerParameters } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { servedApp } from '../../src/testing/app.ts';
import { bridged } from '../../src/testing/mcp-client.ts';
import { repositoryWithThePackage } from '../../src/testing/programs/companion.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

it('npm exec -- covibe-mcp serves calls from a repository that has the package installed [transport.bridge.npm-exec]', async () => {
  const { path } = repositoryWithThePackage();
  await expectToCarryCalls({ command: 'npm', args: ['exec', '--offline', '--', 'covibe-mcp'], cwd: path });
});

it("npm run mcp:stdio serves calls in the product's own repository [transport.bridge.repo-script]", async () => {
  await expectToCarryCalls({ command: 'npm', args: ['run', 'mcp:stdio'], cwd: PACKAGE_ROOT });
});

it.each(['covibe-mcp', 'covibe-local'])(
  '%s starts with nothing installed next to it, and loads no database code [transport.bridge.loads-no-database]',
  async (program) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', version: '9.8.7' }));
    for (const part of [`bin/${program}.js`, program]) cpSync(join(PACKAGE_ROOT, 'dist', part), join(folder, 'dist', part), { recursive: true });
    const parts = readdirSync(join(folder, 'dist', program)).filter((name) => name.endsWith('.map'));
    const sources = parts.flatMap((name) => (JSON.parse(readFileSync(join(folder, 'dist', program, name), 'utf8')) as { sources: string[] }).sources);
    expect(sources).toContainEqual(expect.stringContaining('/src/surfaces/'));
    expect(sources.filter((path) => /\/node_modules\/(kysely|pg)|\/src\/(storage\/|main\.ts)/.test(path))).toEqual([]);

    const start = [join(folder, 'dist/bin', `${program}.js`)];
    if (program === 'covibe-mcp') {
      const client = await bridged({ command: process.execPath, args: start, cwd: folder }, {});
      expect(client.getServerVersion()).toMatchObject({ version: '9.8.7' });
    } else expect(execFileSync(process.execPath, [...start, '--version'], { encoding: 'utf8' })).toBe('9.8.7\n');
  },
);

it('the bridge and /api/mcp offer the same task lifecycle with the same effect [transport.paths.same-lifecycle-tools]', async () => {
  const { url, ...t } = await servedApp();
  const bridged = await t.developer('alice');
  const direct = await t.developer('bob');
  const client = await connectedBridge(
    { command: process.execPath, args: [join(PACKAGE_ROOT, 'dist/bin/covibe-mcp.js')], cwd: PACKAGE_ROOT },
    url,
    bridged.token,
  );
  const paths: Record<string, (args: object) => Promise<Answer>> = {
    bridge: async (args) => (await client.callTool({ name: 'covibe_task', arguments: { ...args } })).structuredContent as unknown as Answer,
    api: async (args) => {
      const body = JSON.stringify({ tool: 'covibe_task', arguments: args, token: direct.token });
      return (await (await fetch(`${url}/api/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json()) as Answer;
    },
  };
  const { tools } = await client.listTools();
  const operations = tools.find(({ name }) => name === 'covibe_task')?.inputSchema.properties?.operation as { enum: string[] };
  expect(operations.enum).toEqual(['check', 'plan', 'start', 'start_planned', 'update', 'complete', 'cancel']);
  const work: Record<string, string[]> = { bridge: ['Translate the manual', 'Print the invoices'], api: ['Paint the shed', 'Sort the archive'] };
  const histories = [];
  for (const [path, call] of Object.entries(paths)) {
    const [first, second] = (work[path] as string[]).map((title) => ({ title, task_type: 'chore' }));
    const statuses: string[] = [];
    const done = async (args: object) => {
      const answer = await call(args);
      statuses.push(`${answer.status} ${answer.data.status ?? ''}`);
      return answer;
    };
    const { task_id } = (await done({ operation: 'plan', ...first })).data;
    await done({ operation: 'start_planned', planned_task_id: task_id });
    await done({ operation: 'check', ...first, planned_task_id: task_id });
    await done({ operation: 'start_planned', planned_task_id: task_id });
    await done({ operation: 'update', task_id, status: 'blocked' });
    await done({ operation: 'complete', task_id, result_summary: 'r' });
    await done({ operation: 'check', ...second });
    const started = await done({ operation: 'start', ...second });
    await done({ operation: 'cancel', task_id: started.data.task_id, reason: 'r' });
    const caller = path === 'bridge' ? bridged : direct;
    const events = (await t.events({ category: 'work' })).filter(({ actor, kind }) => actor === caller.principal.actor && /^(task|workstream)\./.test(kind));
    histories.push({ statuses, kinds: events.map(({ kind }) => kind) });
  }
  expect(histories[0]).toEqual(histories[1]);
  expect(histories[0]?.statuses).toEqual(['ok planned', 'blocked ', 'ok ', 'ok active', 'ok blocked', 'ok completed', 'ok ', 'ok active', 'ok cancelled']);
});

interface Answer {
  status: string;
  data: { task_id: string; status?: string };
}

const connectedBridge = (program: StdioServerParameters, url: string, token: string): Promise<Client> =>
  bridged(program, { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: token });

async function expectToCarryCalls(program: StdioServerParameters): Promise<void> {
  const { url, ...t } = await servedApp();
  const alice = await t.developer('alice');
  const client = await connectedBridge(program, url, alice.token);
  expect(client.getServerVersion()).toMatchObject({ name: 'covenant', version: manifest.version });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('clock');
  expect(await client.callTool({ name: 'clock' })).toMatchObject({ isError: false, structuredContent: { epoch_ms: t.clock.now() } });
  expect((await t.events({ category: 'usage', kind: 'clock' })).map(({ payload }) => payload.token_id)).toEqual([alice.tokenId]);
}
