import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endTmux } from '../../testing/programs/processes.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { until } from '../../testing/until.ts';
import { type AgentHost, createAgentHost } from './agent-host.ts';
import type { AgentSessions, SessionHandle } from './agent-session.ts';
import { socketIn, tmuxVersion } from './tmux.ts';

const present = (await tmuxVersion()) !== null;
const WITHOUT_TMUX = { ...process.env, PATH: '' };
const SECRET = 'cv_not-a-real-token-but-as-secret';
const IDLE = `console.log('ready'); setInterval(() => {}, 1000)`;

async function startIn(host: AgentHost, folder: string, name: string, file = process.execPath, args = ['-e', IDLE]): Promise<[AgentSessions, SessionHandle]> {
  const sessions = await host.sessions();
  const handle = await sessions.start({ name, cwd: folder, file, args, env: host.environment([], { COVIBE_MCP_TOKEN: SECRET }) });
  onTestFinished(() => sessions.end(handle));
  return [sessions, handle];
}

function placeFor(server?: NodeJS.ProcessEnv) {
  const home = temporaryFolder();
  const socket = socketIn(home);
  const tmux = (...args: string[]) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });
  onTestFinished(() => endTmux(home));
  const cwd = join(home, 'tree');
  mkdirSync(cwd);
  return { home, cwd, tmux, host: createAgentHost(home, server) };
}

const commandLines = () =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'latin1')] : [];
    } catch {
      return [];
    }
  });

test.runIf(present)("with tmux, an agent runs in a session on the home's socket, and its token is only in its environment [review.run.tmux]", async () => {
  const { cwd, host, tmux } = placeFor();
  const [sessions, handle] = await startIn(host, cwd, 'work-1-a1');
  expect(sessions.kind).toBe('tmux');
  expect(tmux('list-sessions', '-F', '#{session_name}')).toBe('work-1-a1\n');
  await until(async () => expect(await sessions.screen(handle)).toContain('ready'));
  expect(readFileSync(`/proc/${handle.pid}/environ`, 'latin1')).toContain(SECRET);
  const server = tmux('display-message', '-p', '#{pid}').trim();
  expect(readFileSync(`/proc/${server}/environ`, 'latin1')).not.toContain(SECRET);
  expect(tmux('show-environment', '-g')).not.toContain(SECRET);
  expect(commandLines().filter((line) => line.includes(SECRET))).toEqual([]);
  expect(readdirSync(cwd)).toEqual([]);
  await startIn(host, cwd, 'work-2-a1');
  expect(tmux('show-environment', '-t', '=work-2-a1:', 'COVENANT_SESSION')).toMatch(/^COVENANT_SESSION=work-2-a1:[0-9a-f]{16}\n$/);
});

test('without tmux, an agent runs as a plain process with a log, and its token is only in its environment [review.run.no-tmux]', async () => {
  const { home, cwd, host } = placeFor(WITHOUT_TMUX);
  expect(await host.tmux()).toBeNull();
  const [sessions, handle] = await startIn(host, cwd, 'work-1-a1');
  expect(sessions.kind).toBe('process');
  await until(() => expect(readFileSync(join(home, 'instances', 'work-1-a1.log'), 'utf8')).toBe('ready\n'));
  expect(readFileSync(`/proc/${handle.pid}/environ`, 'latin1')).toContain(SECRET);
  expect(commandLines().filter((line) => line.includes(SECRET))).toEqual([]);
  expect(readdirSync(cwd)).toEqual([]);
  expect(await (await createAgentHost(home).sessions('process')).find('work-1-a1')).toEqual(handle);
});

test("an agent gets the variables that every program needs and those that its launcher lists, but not the server's secrets", () => {
  const host = createAgentHost(temporaryFolder(), { PATH: '/bin', GITHUB_TOKEN: 'ghp', DATABASE_URL: 'postgres://u:p@h/d', MODEL_KEY: 'k', TMUX: 'x' });
  expect(host.environment(['MODEL_KEY', 'NOT_SET'], { OWN: '1' })).toEqual({ PATH: '/bin', MODEL_KEY: 'k', OWN: '1' });
});

test('stores the last screen of a terminal in a file that only the owner can read, and another server process can read it too', async () => {
  const { home, host } = placeFor();
  expect(await host.keptScreen('work-1-a1')).toBeNull();
  await host.keepScreen('work-1-a1', 'first');
  await host.keepScreen('work-1-a1', 'last \u001b[31mred\u001b[0m\n');
  expect(await createAgentHost(home).keptScreen('work-1-a1')).toBe('last \u001b[31mred\u001b[0m\n');
  expect(statSync(join(home, 'instances', 'work-1-a1.screen')).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'instances')).mode & 0o777).toBe(0o700);
});
