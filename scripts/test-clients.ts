/**
 * `npm run test:clients`: tests this server with real agent programs, in the versions below. The programs are installed once, from the registry that npm is
 * configured to use.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENTS } from '../src/clients/index.ts';
import { cacheFolder, installInto, isInstalled } from './install.ts';

const PROGRAMS = [
  { name: CLIENTS['claude-code'].displayName, package: '@anthropic-ai/claude-code', version: '2.1.325' },
  { name: CLIENTS.codex.displayName, package: '@openai/codex', version: '0.166.0' },
  { name: CLIENTS.gemini.displayName, package: '@google/gemini-cli', version: '0.61.0' },
  { name: CLIENTS.opencode.displayName, package: 'opencode-ai', version: '1.18.33' },
] as const;

const root = fileURLToPath(new URL('..', import.meta.url));
const named = process.env.COVENANT_CLIENTS;
const folder = named || join(cacheFolder(), 'covenant-clients', versionsHash());
const missing = PROGRAMS.filter((program) => !isInstalled(folder, program.package, program.version));
if (missing.length === 0) process.stdout.write(`Clients: ${folder}\n`);
else if (named) refuse();
else install();

const results = mkdtempSync(join(tmpdir(), 'covenant-clients-'));
const report = join(results, 'report.json');
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  ['run', '--project', 'clients', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, COVENANT_TEST_CLIENTS: folder } },
);
if (existsSync(report)) printSeen(report);
rmSync(results, { recursive: true, force: true });
process.exitCode = status ?? 1;

function listed(programs: readonly (typeof PROGRAMS)[number][]): string {
  return programs.map(({ name, version }) => `${name} ${version}`).join(', ');
}

/** Stops with an error, because the folder in COVENANT_CLIENTS lacks a program. That folder belongs to the user, so nothing is installed there. */
function refuse(): never {
  process.stderr.write(
    `${folder} (COVENANT_CLIENTS) does not have ${listed(missing)}. Nothing was changed.\n    next: install these versions there, or unset COVENANT_CLIENTS\n`,
  );
  process.exit(1);
}

function install(): void {
  process.stdout.write(`Installing ${listed(PROGRAMS)} into ${folder}\n`);
  try {
    installInto(folder, Object.fromEntries(PROGRAMS.map((program) => [program.package, program.version])), { ownScripts: true, shown: true });
  } catch {
    process.stderr.write(
      'The clients could not be installed.\n    next: check that npm can reach its registry, or set COVENANT_CLIENTS to a folder that has them\n',
    );
    process.exit(1);
  }
}

function versionsHash(): string {
  const versions = PROGRAMS.map((program) => `${program.package}@${program.version}`).join('\n');
  return createHash('sha256').update(versions).digest('hex').slice(0, 12);
}

interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly { ancestorTitles: string[]; title: string; status: string }[] }[];
}

/** Prints one line per test, grouped by client. */
function printSeen(path: string): void {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  const seen = testResults.flatMap(({ assertionResults }) => assertionResults);
  for (const { name, version } of PROGRAMS) {
    const own = seen.filter(({ ancestorTitles, status }) => ancestorTitles[0] === name && (status === 'passed' || status === 'failed'));
    const passed = own.filter((test) => test.status === 'passed').length;
    process.stdout.write(`\n${name} ${version}: ${passed} of ${own.length}\n`);
    for (const test of own)
      process.stdout.write(`  ${test.status === 'passed' ? 'ok  ' : 'FAIL'} ${[...test.ancestorTitles.slice(1), test.title].join(' ')}\n`);
  }
}
