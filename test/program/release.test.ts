import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { covenant, ROOT } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { VERSION } from '../../src/version.ts';
import { linksOf } from '../pages.ts';

/** Matches the errors of npm when the registry cannot be reached. */
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT|UNABLE_TO_GET_ISSUER|SELF_SIGNED_CERT/;
const INSTALL_MS = 150_000;

/** Returns an environment with the Node that runs the tests. It contains none of this machine's npm settings except those for the registry. */
const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => {
  const { DATABASE_URL: _, npm_lifecycle_event: __, ...rest } = process.env;
  return { ...rest, PATH: `${dirname(process.execPath)}${delimiter}${rest.PATH}`, NODE_ENV: 'test', ...more };
};

/** This folder contains the package as it would be published, both packed and unpacked. */
const folder = mkdtempSync(join(tmpdir(), 'covenant-package-'));
const unpacked = join(folder, 'package');
let file: string;

beforeAll(() => {
  execFileSync(process.execPath, ['scripts/pack.ts', folder], { cwd: ROOT, env: environment(), stdio: 'ignore' });
  [file] = readdirSync(folder) as [string];
  execFileSync('tar', ['xzf', join(folder, file), '-C', folder]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}
interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[];
  readonly properties: readonly { readonly name: string; readonly value: string }[];
}
const manifestIn = (place: string) => JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;
const billIn = (place: string) =>
  JSON.parse(readFileSync(join(place, 'sbom.cdx.json'), 'utf8')) as Record<string, unknown> & {
    components: Component[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
/** Returns the component as `name version`, as in the headings of licenses.txt. */
const labelled = ({ group, name, version }: Component) => `${group ? `${group}/` : ''}${name} ${version}`;
const deliveredAs = (value: string) =>
  billIn(join(unpacked, 'dist'))
    .components.filter(({ properties }) => properties.some((each) => each.name === 'covenant:delivery' && each.value === value))
    .map(labelled);

test('the package stays within its size limit, contains the files that the README links to, and reports its size', () => {
  const output = execFileSync(process.execPath, ['scripts/pack.ts', '--check'], { cwd: ROOT, env: environment(), encoding: 'utf8' });
  // The pictures of the README are too large for the package.
  const linked = linksOf('README.md')
    .map((link) => link.replace(/#.*/, ''))
    .filter((link) => link !== '' && !link.startsWith('docs/pictures/'));
  expect(linked.length).toBeGreaterThan(10);
  expect(linked.filter((link) => !existsSync(join(unpacked, link)))).toEqual([]);
  expect(output).toMatch(/covenant-\S+\.tgz: [\d.]+ MB packed, [\d.]+ MB unpacked, \d+ files\ninstalled with it: \d+ direct \(.*\), \d+ in all\n/);
});

test('declares the libraries that run as dependencies, and packs a manifest without those that are bundled [use.package.dependencies]', () => {
  const { dependencies, devDependencies } = manifestIn(ROOT);
  const shipped = new Set([...deliveredAs('bundled'), ...deliveredAs('installed')].map((label) => label.split(' ')[0]));
  expect(Object.keys(dependencies).filter((name) => !shipped.has(name))).toEqual([]);
  // Only these build tools are included, because they add small runtimes to their output.
  expect(Object.keys(devDependencies).filter((name) => shipped.has(name))).toEqual(['rolldown', 'vite']);
  const packed = manifestIn(unpacked);
  expect(packed.dependencies).toEqual({ pg: dependencies.pg });
  expect(packed).not.toHaveProperty('devDependencies');
  expect(packed).not.toHaveProperty('scripts');
});

test('refuses a plain `npm pack`, which would list the bundled libraries as dependencies [use.package.dependencies]', () => {
  const { status, stderr } = spawnSync('npm', ['pack', '--dry-run'], { cwd: ROOT, env: environment(), encoding: 'utf8' });
  expect(status).not.toBe(0);
  expect(stderr).toContain('next: npm run package\n');
});

test('names every package whose code is in dist, the dashboard included, with its licence [use.package.licences]', () => {
  const text = readFileSync(join(unpacked, 'dist/licenses.txt'), 'utf8');
  const headings = [...text.matchAll(/^(@?[a-z][\w./-]* \d[^ ]*) \(/gm)].map(([, label]) => label);
  expect(headings).toEqual(deliveredAs('bundled'));
  const names = headings.map((label) => label?.split(' ')[0]);
  expect(names).toEqual(expect.arrayContaining(['hono', 'zod', 'kysely', 'react', 'react-dom', '@xterm/xterm', '@xyflow/react', 'uplot', 'tailwindcss']));
  // Every licence comment in the code of the dashboard must belong to a package in the list.
  const assets = globSync('dist/web/assets/*.{js,css}', { cwd: unpacked }).map((path) => readFileSync(join(unpacked, path), 'utf8'));
  const banners = assets.flatMap((code) =>
    [...code.matchAll(/@license (React|lucide|Lit)|! (tailwindcss) v/g)].map(([, one, two]) => (one ?? two)?.toLowerCase()),
  );
  expect(banners.filter((name) => !names.includes(name))).toEqual([]);
});

test('ships a CycloneDX bill of materials that lists every bundled and every installed package [use.package.sbom]', () => {
  const bill = billIn(join(unpacked, 'dist'));
  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: 'covenant', version: VERSION, purl: `pkg:npm/covenant@${VERSION}` } },
  });
  expect(bill.metadata).not.toHaveProperty('timestamp');
  expect(bill).not.toHaveProperty('serialNumber');
  for (const component of bill.components) {
    const { group, name, version, licenses } = component;
    const purl = `pkg:npm/${group ? `${group.replace('@', '%40')}/` : ''}${name}@${version}`;
    expect(component).toMatchObject({ type: 'library', purl, 'bom-ref': purl });
    expect(licenses).toEqual([expect.toSatisfy((each) => Boolean(each.license?.id ?? each.expression))]);
  }
  const refs = bill.components.map((component) => component['bom-ref']);
  expect(new Set(refs).size).toBe(refs.length);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, { dependencies?: Record<string, string> }> };
  const driver = Object.keys(lock.packages['node_modules/pg']?.dependencies ?? {});
  expect(driver.length).toBeGreaterThan(3);
  const installed = deliveredAs('installed').map((label) => label.split(' ')[0]);
  expect(installed).toEqual(expect.arrayContaining(['pg', ...driver]));
  expect(bill.dependencies.map(({ ref }) => ref)).toEqual([`pkg:npm/covenant@${VERSION}`, ...refs]);
  expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([]);
});

test('starts with npx in an empty folder, and serves its dashboard', { timeout: INSTALL_MS + 30_000 }, async ({ skip }) => {
  const cwd = temporaryFolder();
  copyFileSync(join(folder, file), join(cwd, file));
  const env = environment({ COVENANT_HOME: join(cwd, 'home'), npm_config_cache: temporaryFolder(), npm_config_fetch_retries: '0' });
  const child = spawn('npx', ['--yes', `./${file}`, 'up', '--port', '0', '--json'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const exited = once(child, 'exit');
  // Signal the whole group, because npx and the server are two processes.
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
  if (!ready && (late.aborted || OFFLINE.test(said))) skip(`the npm registry cannot be reached: ${said.slice(0, 300)}`);
  if (!ready) throw new Error(`npx ended: ${said}`);
  const { url } = JSON.parse(String(ready[0])) as { url: string };
  expect(await (await fetch(`${url}/api/health`)).json()).toMatchObject({ status: 'ok', version: VERSION, store: 'sqlite' });
  const page = await (await fetch(`${url}/`)).text();
  expect(page).toContain('<title>Covenant</title>');
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1];
  expect((await fetch(`${url}${script}`)).status).toBe(200);
  end('SIGTERM');
  await exited;
  await expect(fetch(`${url}/api/health`)).rejects.toThrow();
});

/** Returns an old Node, if the machine has one. Otherwise it returns this Node, which then reports an old version. */
function oldNode(): [string, ...string[]] {
  for (const path of ['/usr/bin/node', '/usr/local/bin/node']) {
    if (existsSync(path) && /^v(20|21|22\.([0-9]|1[0-2]))\./.test(execFileSync(path, ['--version'], { encoding: 'utf8' }))) return [path];
  }
  const OLD = 'data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } })';
  return [process.execPath, '--import', OLD];
}

test('on a Node that is too old, reports the required version and exits with 1', async () => {
  const [node, ...flags] = oldNode();
  const child = spawn(node, [...flags, join(unpacked, 'dist/bin/covenant.js'), 'up'], { env: environment(), stdio: ['ignore', 'ignore', 'pipe'] });
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

test('contains its version number only in package.json', async () => {
  const written = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx,html}', 'scripts/*', 'docs/**/*.md', 'README.md', 'ARCHITECTURE.md', 'SECURITY.md'], { cwd: ROOT })
    .filter((path) => !/\.test\.ts$/.test(path))
    .filter((path) => new RegExp(`(?<![\\d.])${VERSION.replaceAll('.', '\\.')}(?![\\d.])`).test(readFileSync(join(ROOT, path), 'utf8')));
  expect(written).toEqual([]);
  expect((await covenant({ home: temporaryFolder() }, '--version')).stdout).toBe(`${VERSION}\n`);
  const companion = execFileSync(process.execPath, [join(ROOT, 'dist/bin/covibe-local.js'), '--version'], { env: environment(), encoding: 'utf8' });
  expect(companion).toBe(`${VERSION}\n`);
});
