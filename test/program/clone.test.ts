import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

const LOCK = { name: 'small', version: '1.0.0', lockfileVersion: 3, requires: true, packages: { '': { name: 'small', version: '1.0.0' } } };

/** Creates a clone that has no dependencies to install. The install step and npm are real, so it differs from a full clone only in speed. */
function clone(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'scripts'));
  for (const name of ['prepare-clone.mjs', 'clone.mjs']) cpSync(join(ROOT, 'scripts', name), join(folder, 'scripts', name));
  const build = `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { buildNote, sourceHash } from './clone.mjs';
mkdirSync('dist', { recursive: true });
appendFileSync('built.log', 'built\\n');
writeFileSync(buildNote, sourceHash());`;
  writeFileSync(join(folder, 'scripts/build.mjs'), build);
  const scripts = { build: 'node scripts/build.mjs', postinstall: `node -e "fs.appendFileSync('installed.log','installed\\n')"` };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'small', version: '1.0.0', type: 'module', scripts }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(LOCK));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/a.ts'), '1');
  return folder;
}

async function prepare(folder: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [join(folder, 'scripts/prepare-clone.mjs')], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

const times = (folder: string, what: 'installed' | 'built') => {
  const path = join(folder, `${what}.log`);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0;
};

function touchLock(folder: string): void {
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...LOCK, packages: { '': { ...LOCK.packages[''], license: 'MIT' } } }));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')), license: 'MIT' }));
}

test('installs and builds the first time, nothing the second time, and again after a change of the lock file or a source', async () => {
  const folder = clone();
  const counts = () => [times(folder, 'installed'), times(folder, 'built')];
  expect(await prepare(folder)).toMatchObject({ code: 0 });
  expect(counts()).toEqual([1, 1]);
  expect(await prepare(folder)).toMatchObject({ code: 0, stderr: '' });
  expect(counts()).toEqual([1, 1]);
  writeFileSync(join(folder, 'src/a.ts'), '2');
  await prepare(folder);
  expect(counts()).toEqual([1, 2]);
  touchLock(folder);
  await prepare(folder);
  expect(counts()).toEqual([2, 3]);
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
  await prepare(folder);
  expect(counts()).toEqual([3, 3]);
});

test("installs nothing while a server of this clone runs, and names it; a dead server's mark is ignored", async () => {
  const folder = clone();
  await prepare(folder);
  touchLock(folder);
  const server: ChildProcess = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void server.kill('SIGKILL'));
  writeFileSync(join(folder, '.covenant-run', String(server.pid)), '');
  const refused = await prepare(folder);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`process ${server.pid}`);
  expect(times(folder, 'installed')).toBe(1);
  server.kill('SIGKILL');
  await once(server, 'exit');
  expect(await prepare(folder)).toMatchObject({ code: 0 });
  expect(times(folder, 'installed')).toBe(2);
});

test('ignores the mark of a killed server if another process has the same pid now', async () => {
  const folder = clone();
  await prepare(folder);
  const mark = join(folder, '.covenant-run', String(process.pid));
  writeFileSync(mark, '');
  touchLock(folder);
  expect(await prepare(folder)).toMatchObject({ code: 1 });
  utimesSync(mark, 0, 0);
  expect(await prepare(folder)).toMatchObject({ code: 0 });
  expect(times(folder, 'installed')).toBe(2);
});

test('two concurrent starts install once; a lock left by a dead process is taken over', async () => {
  const folder = clone();
  const both = await Promise.all([prepare(folder), prepare(folder)]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(times(folder, 'installed')).toBe(1);
  touchLock(folder);
  writeFileSync(join(folder, '.covenant-run/install.lock'), '999999999');
  expect(await prepare(folder)).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, '.covenant-run/install.lock'))).toBe(false);
});

test('the lock file does not contain the host of a registry', () => {
  expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved":/);
  expect(readFileSync(join(ROOT, '.npmrc'), 'utf8')).toContain('omit-lockfile-registry-resolved=true');
});
