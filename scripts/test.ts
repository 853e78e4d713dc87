/** `npm test`: runs all tests on both engines, as real programs and in a browser. Meanwhile it checks types, lint, dead code, generated files and budgets. */
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
/** Contains all temporary files of this run. Its name is short, because socket paths are limited to about 100 characters. */
const folder = mkdtempSync(join(quickFolder(), 'cov-'));
// If root runs the tests, PostgreSQL runs as a separate user, who must be able to open its folder.
chmodSync(folder, 0o755);
const report = join(folder, 'report.json');
const env = { ...process.env, TMPDIR: folder, ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }) };
let passed = 0;
let failed = 0;

// Ctrl+C also ends the tests. This process continues and removes the temporary folder, which may occupy memory.
process.once('SIGINT', () => {});

// The checks run in parallel with the tests, because the tests spend much of their time waiting.
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
// The run also fails if there was an error outside of a test, for example if a test file could not be loaded.
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
  // If a file could not be loaded, the run is unsuccessful although no test has failed.
  failed += found.success ? 0 : Math.max(1, found.numFailedTests);
  if (only.length > 0) return;
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const hasTmux = spawnSync('tmux', ['-V']).error === undefined;
  const maySkip = (file: string) => !hasTmux && needsTmux(readFileSync(file, 'utf8'));
  const { excused, missing } = rowsNotRun(found, read('test/requirements.json'), read('test/unmet.json'), maySkip);
  if (excused.length > 0) process.stdout.write(`note ledger rows whose tests were skipped because this machine has no tmux: ${excused.join(', ')}\n`);
  if (missing.length === 0) return;
  process.stdout.write(`FAIL ledger rows that no test covers: ${missing.join(', ')}\n`);
  failed++;
}

/** If the folder cannot be removed, prints a note. The result of the run stays the same. */
function removeFolder(): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch (error) {
    process.stdout.write(`note ${folder} could not be removed: ${(error as Error).message}\n`);
  }
}

/**
 * Returns a folder in memory if it has enough free space and programs can be run in it, or else the usual temporary folder. With files on disk, the tests would
 * spend a seventh of their time on disk access.
 */
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
