/** `npm run prove`: the tests whose numbers are too large for every run, with the numbers that are promised. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Each reads COVENANT_PROVE, and runs in `npm test` with a smaller number; or there on one engine alone. */
const PROOFS = [
  'src/features/upstreams/rounds.unit.test.ts',
  'src/features/cycles/model.test.ts',
  'src/features/cycles/crash.test.ts',
  'src/features/reviews/',
  'src/features/instances/',
  'src/features/pulls/',
  'src/features/worktrees/',
  'src/surfaces/',
  'test/program/workflow-crash.test.ts',
  'test/faults/',
];
const PROJECTS = ['unit', 'sqlite', 'postgres', 'program', 'faults'].flatMap((project) => ['--project', project]);

const { status } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), ['run', ...PROJECTS, ...PROOFS, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, COVENANT_PROVE: '1' },
});
process.exitCode = status ?? 1;
