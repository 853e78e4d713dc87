import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createAgentHost } from '../../src/machine/agent-sessions/agent-host.ts';
import { endTmux, processesNaming } from '../../src/testing/programs/processes.ts';
import { covenant, startCommand, startProgram } from '../../src/testing/programs/program.ts';
import type { Body } from '../../src/testing/scenes/workflow.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

/** The factor by which the clock is faster. At normal speed, a lease expires after 90 s, and agents send a heartbeat every 30 s. */
const QUICKER = 2.5;

/** Starts a server with a faster clock. Returns it with a function that calls actions in the workspace `demo`. */
async function place() {
  const home = homeOfDemo();
  const clock = join(temporaryFolder(), 'clock');
  const began = Date.now();
  const move = () => writeFileSync(clock, String(Math.round(began + (Date.now() - began) * QUICKER)));
  move();
  const timer = setInterval(move, 50);
  onTestFinished(() => clearInterval(timer));
  const at = { home, env: { COVENANT_TEST_CLOCK: clock } };
  const program = await startProgram(at);
  const ask = async (name: string, input: object = {}): Promise<Body> => {
    const { token } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')) as { token: string };
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'x-covenant-workspace': 'demo' };
    const response = await fetch(new URL(`/api/actions/${name}`, program.url), { method: 'POST', headers, body: JSON.stringify(input) });
    return (await response.json()) as Body;
  };
  return { at, home, program, ask };
}

/** Creates a home. After the test, ends a tmux server that a failed demo may have left there. */
function homeOfDemo(): string {
  const home = temporaryFolder();
  onTestFinished(() => endTmux(home));
  return home;
}

/** Waits until no agent and no tmux server of this home is running. */
const nothingRunsIn = (home: string) => expect.poll(() => processesNaming(home)).toEqual([]);

const sessionsIn = async (home: string) => (await createAgentHost(home).sessions()).names();

test('fills every page on the running server, ends by itself, and leaves no token, agent, folder or data', async () => {
  const { at, home, ask } = await place();
  const demo = startCommand(at, 'demo', '--pace', '0', '--no-open', '--json');
  const pages: Record<string, () => Promise<boolean>> = {
    tasks: async () => (await ask('tasks.list')).items.length > 3,
    overlaps: async () => (await ask('overlap.list')).items.length > 0,
    held: async () => (await ask('approvals.list')).items.length > 0,
    questions: async () => (await ask('questions.list')).items.length > 0,
    workflows: async () => (await ask('workflows.list')).items.length > 0,
    limit: async () => (await ask('instances.list')).items.some(({ at_limit }: Body) => at_limit),
    cycles: async () => (await ask('cycles.list')).items.length > 0,
    messages: async () => (await ask('messages.threads')).items.length > 3,
    withheld: async () => (await ask('servers.list')).items.some(({ withheld }: Body) => withheld.length > 0),
    usage: async () => (await ask('usage.list')).totals.unpriced === 1,
  };
  const empty = new Set(Object.keys(pages));
  await expect
    .poll(
      async () => {
        // The calls fail at first, until the demo has created its workspace.
        for (const name of empty) if (await pages[name]?.().catch(() => false)) empty.delete(name);
        return demo.child.exitCode === null ? [...empty] : [...empty, demo.notes()];
      },
      { timeout: 60_000, interval: 300 },
    )
    .toEqual([]);

  const ended = JSON.parse((await demo.line()) ?? '') as Body;
  expect(ended).toMatchObject({ kind: 'demo', kept: false, steps: 14, revoked_tokens: expect.any(Number) });
  expect(ended.removed_rows).toBeGreaterThan(100);
  expect(await demo.ended).toBe(0);
  expect((await ask('tokens.list')).items).toEqual([]);
  expect((await ask('tasks.list')).items).toEqual([]);
  expect((await ask('instances.list')).items).toEqual([]);
  expect((await covenant(at, 'servers', 'list', '--json')).json).toMatchObject({ items: [], unconfigured: [] });
  expect(await sessionsIn(home)).toEqual([]);
  expect(existsSync(join(home, 'demo'))).toBe(false);
  expect((await covenant(at, 'audit', 'verify', '--workspace', 'demo')).code).toBe(0);
  // The demo must not have written anything to other workspaces.
  const { items } = (await covenant(at, 'tokens', 'list', '--json')).json as Body;
  expect(items.filter(({ kind }: Body) => kind === 'agent')).toEqual([]);
  await nothingRunsIn(home);
}, 120_000);

test('removes an interrupted demo, and starts a temporary server if none is running', async () => {
  const home = homeOfDemo();
  const at = { home, env: { MCP_SERVER_PORT: '0', LC_ALL: 'C' } };
  const demo = startCommand({ ...at, group: true }, 'demo', '--pace', '0', '--no-open');
  await expect.poll(() => demo.notes(), { timeout: 30_000 }).toMatch(/worker killed/);
  // Send the signal to the whole process group, as Ctrl-C in a terminal does.
  process.kill(-Number(demo.child.pid), 'SIGINT');
  expect(await demo.ended).toBe(1);
  expect(demo.notes()).toContain('interrupted');
  // Without a UTF-8 locale, the output must contain only ASCII characters and no colours.
  expect(demo.notes()).toMatch(/^[\x20-\x7e\n]*$/);
  expect(await sessionsIn(home)).toEqual([]);
  expect(existsSync(join(home, 'demo'))).toBe(false);
  expect((await covenant(at, 'tokens', 'list', '--workspace', 'demo', '--json')).json).toMatchObject({ items: [] });
  expect((await covenant(at, 'status')).stdout).toContain('No server is running');
  await nothingRunsIn(home);
}, 90_000);
