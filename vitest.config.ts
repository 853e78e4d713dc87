import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Tests that need no store, or for which its engine makes no difference, run once. Tests of the store and of everything that uses it run once per engine.
 * Tests of the whole program run once. Test files of one worker share loaded modules, because loading the product for every file would take a third of
 * the time.
 */
const PURE = 'src/**/*.unit.test.ts';
const STORE = 'src/**/*.test.ts';

/**
 * These tests check wire formats, comparisons, rules, git and processes. Other tests try the queries that they use on PostgreSQL.
 * `npm run prove` runs these tests on PostgreSQL too.
 */
export const SQLITE_ONLY = [
  'src/surfaces/',
  'src/kernel/relay.test.ts',
  ...['edits', 'lifecycle', 'stop', 'news', 'recover', 'rights', 'model', 'trees'].map((name) => `src/features/core/hooks/${name}.test.ts`),
  ...['private-links', 'sessions', 'rotation'].map((name) => `src/features/core/identity/${name}.test.ts`),
  ...['bounds', 'explain'].map((name) => `src/features/core/capabilities/${name}.test.ts`),
  'src/features/core/approvals/',
  'src/features/core/settings/settings.test.ts',
  ...['crash', 'model', 'mirror', 'broker-files', 'secrecy', 'handoffs', 'envelope', 'custom-machine', 'reported', 'sessions', 'smoke'].map(
    (name) => `src/features/cycle/${name}.test.ts`,
  ),
  'src/features/gateway/',
  'src/features/people/',
  ...['instances', 'oversee', 'permission', 'stop'].map((name) => `src/features/review/instances/${name}.test.ts`),
  'src/features/review/pulls/',
  'src/features/review/reviews/',
  'src/features/team/overlap/',
  'src/features/team/team-overview/',
  'src/features/team/notes/',
  ...['lists', 'oversee'].map((name) => `src/features/team/coordination/${name}.test.ts`),
  ...['model', 'oversee'].map((name) => `src/features/team/tasks/${name}.test.ts`),
  ...['contexts', 'snapshot', 'link'].map((name) => `src/features/team/sessions/${name}.test.ts`),
  ...['questions', 'threads'].map((name) => `src/features/workflow/messages/${name}.test.ts`),
  'src/features/workflow/recovery/',
  'src/features/workflow/repositories/',
  'src/features/workflow/steering/',
  'src/features/workflow/steps/machines.test.ts',
  'src/features/workflow/oversight/',
  'src/features/workflow/templates/',
  'src/features/workflow/workflows/replan.model.test.ts',
  'src/features/workflow/worktrees/',
];
const PROVE = process.env.COVENANT_PROVE === '1';
/** Selects a run in which every transaction on PostgreSQL is undone at its first commit and repeated. */
const TWICE = process.env.COVENANT_TWICE === '1';

/** Tests with the real programs of agents, which `npm run test:clients` installs. Other runs have no such folder and leave these tests out. */
const CLIENTS = process.env.COVENANT_TEST_CLIENTS
  ? [{ extends: true as const, test: { name: 'clients', include: ['test/clients/**/*.test.ts'], testTimeout: 300_000, maxWorkers: 2 } }]
  : [];

export default defineConfig({
  test: {
    testTimeout: PROVE ? 1_800_000 : 30_000,
    hookTimeout: 60_000,
    // A limit for conditions that never become true. The default of one second is too short for a loaded machine.
    expect: { poll: { timeout: 15_000 } },
    // Tests spend much time waiting for disks, browsers and processes, so even a machine with two cores can run more than the default of one worker.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    env: { NODE_ENV: 'test' },
    // Mocks and stubs end with their test, because test files share their worker's modules.
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    projects: [
      { extends: true, test: { name: 'unit', include: [PURE, 'test/*.unit.test.ts'], isolate: false } },
      { extends: true, test: { name: 'sqlite', include: [STORE], exclude: [PURE], isolate: false, env: { COVENANT_TEST_ENGINE: 'sqlite' } } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [STORE],
          exclude: [PURE, ...(PROVE || TWICE ? [] : SQLITE_ONLY.map((path) => (path.endsWith('/') ? `${path}**` : path)))],
          isolate: false,
          env: { COVENANT_TEST_ENGINE: 'postgres' },
          globalSetup: 'src/testing/store/postgres-setup.ts',
          setupFiles: TWICE ? ['src/testing/store/every-write-twice.ts'] : [],
        },
      },
      {
        extends: true,
        test: { name: 'program', include: ['test/program/**/*.test.ts'], globalSetup: 'src/testing/store/postgres-setup.ts', testTimeout: 60_000 },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          globalSetup: 'src/testing/store/postgres-setup.ts',
          testTimeout: 60_000,
          // At full size, each test needs the whole machine, so they run one after another, after all other tests.
          ...(PROVE ? { maxWorkers: 1, sequence: { groupOrder: 1 } } : {}),
        },
      },
      { extends: true, test: { name: 'browser', include: ['test/browser/**/*.test.ts'], globalSetup: 'src/testing/browser.ts', testTimeout: 60_000 } },
      ...CLIENTS,
    ],
  },
});
