/** `npm run prove`: the tests whose numbers are too large for every run, with the numbers that are promised. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SQLITE_ONLY } from '../vitest.config.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Whatever has larger numbers than `npm test` gives it: by itself, by its properties, or as a fault that is injected for longer. */
const LARGER = /COVENANT_PROVE|\/testing\/(runs|faults\/scene)\.ts'/;
const larger = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => path.endsWith('.test.ts') && LARGER.test(readFileSync(join(root, path), 'utf8'))),
);
/** What the audit tried, once more and for longer: nothing may get through. */
const ATTACKS = ['test/program/attacks/'];
// What runs on SQLite alone in `npm test` runs on both engines here.
const PROOFS = [...SQLITE_ONLY, ...ATTACKS, ...larger];
const PROJECTS = ['unit', 'sqlite', 'postgres', 'program', 'faults'].flatMap((project) => ['--project', project]);

const proved = run(PROOFS, { COVENANT_PROVE: '1' }, PROJECTS);
// And everything of the features once more where every write is run twice.
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
