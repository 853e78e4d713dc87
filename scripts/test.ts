/** `npm test`: types, lint, dead code, generated files, then every test on both engines, the whole program and a browser. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name: string) => join(root, 'node_modules', '.bin', name);

const CHECKS: [string, string, string[]][] = [
  ['types', bin('tsc'), ['--noEmit']],
  ['lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['dead code', bin('knip'), ['--no-config-hints']],
  ['generated files', process.execPath, ['scripts/tools.ts', '--check']],
  ['budgets', process.execPath, ['scripts/budgets.ts']],
];

let passed = 0;
let failed = 0;
for (const [name, program, args] of CHECKS) {
  const ok = run(program, args);
  process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${name}\n`);
  if (ok) passed++;
  else failed++;
}

const folder = mkdtempSync(join(tmpdir(), 'covenant-test-'));
const report = join(folder, 'report.json');
const clean = run(bin('vitest'), ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)]);
const counts = readCounts(report);
rmSync(folder, { recursive: true, force: true });
passed += counts.passed;
failed += counts.failed;
// A run that broke outside of any test (a suite that did not load, an unhandled rejection) has failed too.
if (!clean && failed === 0) failed++;

process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

function run(program: string, args: string[]): boolean {
  const env = { ...process.env, TMPDIR: quickFolder(), ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }) };
  return spawnSync(program, args, { cwd: root, stdio: 'inherit', env }).status === 0;
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

interface Report {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
}

function readCounts(path: string): { passed: number; failed: number } {
  try {
    const { success, numPassedTests, numFailedTests } = JSON.parse(readFileSync(path, 'utf8')) as Report;
    // A file that did not load has no failed test, and what ends with the run may have changed its exit code.
    return { passed: numPassedTests, failed: success ? 0 : Math.max(1, numFailedTests) };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
