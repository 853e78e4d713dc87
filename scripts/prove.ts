/** `npm run prove`: runs the large tests at the sizes that the documentation promises. They take too long for `npm test`. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SQLITE_ONLY } from '../vitest.config.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Matches the source of test files that do more under `npm run prove`, because they read COVENANT_PROVE or import a helper that does. */
const LARGER = /COVENANT_PROVE|\/testing\/(runs|faults\/scene)\.ts'/;
const larger = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => path.endsWith('.test.ts') && LARGER.test(readFileSync(join(root, path), 'utf8'))),
);
/** The attacks of the security audit. Here they run for longer. */
const ATTACKS = ['test/program/attacks/'];
// `npm test` runs the tests in SQLITE_ONLY only on SQLite. Here they run on both engines.
const PROOFS = [...SQLITE_ONLY, ...ATTACKS, ...larger];
const PROJECTS = ['unit', 'sqlite', 'postgres', 'program', 'faults'].flatMap((project) => ['--project', project]);

const proved = run(PROOFS, { COVENANT_PROVE: '1' }, PROJECTS);
// Runs all feature tests again, with every write executed twice.
const again = run(['src/features/'], { COVENANT_TWICE: '1' }, ['--project', 'postgres']);
process.exitCode = proved || again;

function run(files: readonly string[], env: Record<string, string>, projects: readonly string[]): number {
  const vitest = join(root, 'node_modules', '.bin', 'vitest');
  const { status } = spawnSync(vitest, ['run', ...projects, ...files, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return status ?? 1;
}
