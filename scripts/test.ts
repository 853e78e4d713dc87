/** `npm test`: every test on both engines, the whole program and a browser; beside them types, lint, dead code and generated files. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needsTmux, rowsNotRun, type TestReport } from './ledger.ts';
import { endLeftBehind } from './left-behind.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name: string) => join(root, 'node_modules', '.bin', name);

const CHECKS: [string, string, string[]][] = [
  ['types', bin('tsc'), ['--noEmit']],
  ['lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['dead code', bin('knip'), ['--no-config-hints']],
  ['generated files', process.execPath, ['scripts/tools.ts', '--check']],
  ['budgets', process.execPath, ['scripts/budgets.ts']],
];

const only = process.argv.slice(2);
/** All temporary files of this run. The paths of sockets below it may have about 100 characters in all, so its name is short. */
const folder = mkdtempSync(join(quickFolder(), 'cov-'));
// Run by root, PostgreSQL gives itself an account of its own, which must be able to reach its folder.
chmodSync(folder, 0o755);
const report = join(folder, 'report.json');
const env = { ...process.env, TMPDIR: folder, ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }) };
let passed = 0;
let failed = 0;

// Ctrl+C reaches the tests too, and they end: the folder, which lies in memory, is removed all the same.
process.once('SIGINT', () => {});

// Beside the tests: much of a run of tests is waiting.
const checks = CHECKS.map(async ([name, program, args]) => {
  const { ok, said } = await run(program, args, 'pipe');
  process.stdout.write(`${said}${ok ? 'ok  ' : 'FAIL'} ${name}\n`);
  if (ok) passed++;
  else failed++;
});
const tests = await run(bin('vitest'), ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...only], 'inherit');
await Promise.all(checks);
readReport();
const left = await endLeftBehind(folder);
if (left.length > 0) {
  process.stdout.write(`FAIL processes left behind:\n${left.map((line) => `  ${line}\n`).join('')}`);
  failed++;
}
removeFolder();
// A run that broke outside of any test (a suite that did not load, an unhandled rejection) has failed too.
if (!tests.ok && failed === 0) failed++;

process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

function run(program: string, args: string[], output: 'pipe' | 'inherit'): Promise<{ ok: boolean; said: string }> {
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', output, output], env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ ok: false, said: `${said}${error.message}\n` }));
    child.once('close', (code) => resolve({ ok: code === 0, said: code === 0 ? '' : said }));
  });
}

function readReport(): void {
  let found: TestReport;
  try {
    found = JSON.parse(readFileSync(report, 'utf8')) as TestReport;
  } catch {
    failed++;
    return;
  }
  passed += found.numPassedTests;
  // A file that did not load has no failed test, and what ends with the run may have changed its exit code.
  failed += found.success ? 0 : Math.max(1, found.numFailedTests);
  if (only.length > 0) return;
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const hasTmux = spawnSync('tmux', ['-V']).error === undefined;
  const maySkip = (file: string) => !hasTmux && needsTmux(readFileSync(file, 'utf8'));
  const { excused, missing } = rowsNotRun(found, read('test/requirements.json'), read('test/unmet.json'), maySkip);
  if (excused.length > 0) process.stdout.write(`note rows of the ledger whose tests did not run (there is no tmux here): ${excused.join(', ')}\n`);
  if (missing.length === 0) return;
  process.stdout.write(`FAIL rows of the ledger whose tests did not run: ${missing.join(', ')}\n`);
  failed++;
}

/** What cannot be removed must not cost the result of the run. */
function removeFolder(): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch (error) {
    process.stdout.write(`note ${folder} could not be removed: ${(error as Error).message}\n`);
  }
}

/** Where temporary files lie in memory, if there is room and programs may run from there: a seventh of the time is waiting for a disk. */
function quickFolder(): string {
  const [memory, room] = ['/dev/shm', 4 * 1024 ** 3];
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (process.env.TMPDIR !== undefined || bavail * bsize < room) return tmpdir();
    const tried = mkdtempSync(join(memory, 'covenant-test-'));
    try {
      writeFileSync(join(tried, 'run'), '#!/bin/sh\n', { mode: 0o700 });
      return spawnSync(join(tried, 'run')).status === 0 ? memory : tmpdir();
    } finally {
      rmSync(tried, { recursive: true, force: true });
    }
  } catch {
    return tmpdir();
  }
}
