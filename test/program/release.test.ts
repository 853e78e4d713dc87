import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { covenant, ROOT } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { VERSION } from '../../src/version.ts';

/** What npm says where the registry cannot be reached. */
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT|UNABLE_TO_GET_ISSUER|SELF_SIGNED_CERT/;
const INSTALL_MS = 150_000;

/** Uses the Node of the tests. Takes only the access to the registry from the npm settings of this machine. */
const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => {
  const { DATABASE_URL: _, npm_lifecycle_event: __, ...rest } = process.env;
  return { ...rest, PATH: `${dirname(process.execPath)}${delimiter}${rest.PATH}`, NODE_ENV: 'test', ...more };
};

/** Packs the build as it would be published. */
const folder = mkdtempSync(join(tmpdir(), 'covenant-package-'));
let file: string;

beforeAll(() => {
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT, env: environment(), stdio: 'ignore' });
  [file] = readdirSync(folder) as [string];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the package is within its size limits, contains the files that the README links to, and prints its size', () => {
  const told = execFileSync(process.execPath, ['scripts/pack.ts'], { cwd: ROOT, env: environment(), encoding: 'utf8' });
  expect(told).toMatch(/covenant-\S+\.tgz: [\d.]+ MB packed, [\d.]+ MB unpacked, \d+ files\nruntime dependencies: \d+ direct \(.*\), \d+ in all\n/);
});

test('npx runs the package in an empty folder and serves the dashboard', { timeout: INSTALL_MS + 30_000 }, async ({ skip }) => {
  const cwd = temporaryFolder();
  copyFileSync(join(folder, file), join(cwd, file));
  const env = environment({ COVENANT_HOME: join(cwd, 'home'), npm_config_cache: temporaryFolder(), npm_config_fetch_retries: '0' });
  const child = spawn('npx', ['--yes', `./${file}`, 'up', '--port', '0', '--json'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const exited = once(child, 'exit');
  // npx and the server are two processes of one group.
  const end = (signal: NodeJS.Signals) => child.exitCode === null && process.kill(-(child.pid as number), signal);
  onTestFinished(async () => {
    end('SIGKILL');
    await exited;
  });
  const late = AbortSignal.timeout(INSTALL_MS);
  const ready = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line', { signal: late }).catch(() => undefined),
    exited.then(() => undefined),
  ]);
  if (!ready && (late.aborted || OFFLINE.test(said))) skip(`the registry cannot be reached, from which the dependencies come: ${said.slice(0, 300)}`);
  if (!ready) throw new Error(`npx ended: ${said}`);
  const { url } = JSON.parse(String(ready[0])) as { url: string };
  expect(await (await fetch(`${url}/api/health`)).json()).toMatchObject({ status: 'ok', version: VERSION, store: 'sqlite' });
  const page = await (await fetch(`${url}/`)).text();
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1];
  expect((await fetch(`${url}${script}`)).status).toBe(200);
  end('SIGTERM');
  await exited;
  await expect(fetch(`${url}/api/health`)).rejects.toThrow();
});

/** A real old Node where the machine has one; else this one, which says that it is old. */
function oldNode(): [string, ...string[]] {
  for (const path of ['/usr/bin/node', '/usr/local/bin/node']) {
    if (existsSync(path) && /^v(20|21|22\.([0-9]|1[0-2]))\./.test(execFileSync(path, ['--version'], { encoding: 'utf8' }))) return [path];
  }
  const OLD = 'data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } })';
  return [process.execPath, '--import', OLD];
}

test('an old Node gets the required version as a message, and exit code 1', async () => {
  const place = temporaryFolder();
  execFileSync('tar', ['xzf', join(folder, file), '-C', place]);
  const [node, ...flags] = oldNode();
  const child = spawn(node, [...flags, join(place, 'package/dist/bin/covenant.js'), 'up'], { env: environment(), stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  expect({ code, said }).toEqual({
    code: 1,
    said: expect.stringMatching(/^covenant needs Node 22\.13 or newer\. This is Node 2\d\.[\d.]+\n {4}next: .*install/),
  });
});

test('the version is in package.json only', async () => {
  const written = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx,html}', 'scripts/*', 'docs/**/*.md', 'README.md', 'ARCHITECTURE.md', 'SECURITY.md'], { cwd: ROOT })
    .filter((path) => !/\.test\.ts$/.test(path))
    .filter((path) => new RegExp(`(?<![\\d.])${VERSION.replaceAll('.', '\\.')}(?![\\d.])`).test(readFileSync(join(ROOT, path), 'utf8')));
  expect(written).toEqual([]);
  expect((await covenant({ home: temporaryFolder() }, '--version')).stdout).toBe(`${VERSION}\n`);
  const companion = execFileSync(process.execPath, [join(ROOT, 'dist/bin/covibe-local.js'), '--version'], { env: environment(), encoding: 'utf8' });
  expect(companion).toBe(`${VERSION}\n`);
});
