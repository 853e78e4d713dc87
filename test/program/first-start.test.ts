import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { CLIENT_NAMES } from '../../src/clients/client.ts';
import { ROOT, startCommand } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

test('npm start names every client, and one command that sets all of them up from any folder', async () => {
  const server = startCommand({ home: temporaryFolder(), env: { npm_lifecycle_event: 'start' } }, 'up', '--port', '0', '--no-open');
  const lines: string[] = [];
  while (!lines.at(-1)?.startsWith('Ready')) lines.push((await server.line()) ?? 'Ready never');
  expect(lines.flatMap((line) => /^ +npm exec -- covenant connect (\S+)$/.exec(line)?.[1] ?? [])).toEqual(CLIENT_NAMES);
  const setup = lines.find((line) => line.includes('covibe-local setup'))?.trim();
  const help = execFileSync('sh', ['-c', `${setup} --help`], { cwd: temporaryFolder(), encoding: 'utf8' });
  expect(help).toMatch(/^Usage: covibe-local setup \[OPTIONS\][\s\S]*--base-url URL/);
});

const OLD = 'data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } })';

test("if the machine's Node is too old, covenant runs with the clone's Node and ends together with it", async () => {
  const program = join(ROOT, 'dist/bin/covenant.js');
  const env = { ...process.env, COVENANT_HOME: temporaryFolder(), NODE_ENV: 'test' };
  const child = spawn(process.execPath, ['--import', OLD, program, 'up', '--port', '0', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { pid, url } = JSON.parse(line) as { pid: number; url: string };
  expect(pid).not.toBe(child.pid);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  await expect(fetch(`${url}/api/health`)).rejects.toThrow();
});
