import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
  /** Only when that line is reached. */
  late: boolean;
}

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => /\.tsx?$/.test(path));

function importsOf(path: string): Import[] {
  const text = readFileSync(join(root, path), 'utf8');
  const found = [
    ...text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm),
    ...text.matchAll(/(typeof\s+)?\bimport\(\s*'([^']+)'\s*\)/g),
  ];
  return found.map(([all, type, target = '']) => ({
    from: path,
    to: target.startsWith('.') ? relative(root, resolve(root, dirname(path), target)) : target,
    typeOnly: Boolean(type),
    late: all.startsWith('import('),
  }));
}

const isTest = (path: string) => /\.test\.tsx?$/.test(path) || path.startsWith('src/testing/');
const program = sources('src').filter((path) => !isTest(path));
const all = program.flatMap(importsOf);
/** A feature is a folder with a contract; the groups that hold them are the contracts of the product. */
const featureFolders = program.filter((path) => path.startsWith('src/features/') && path.endsWith('/contract.ts')).map(dirname);
const shown = (imports: Import[]) => imports.map(({ from, to }) => `${from} → ${to}`);

/** `storage ← kernel ← features ← surfaces ← main`: a layer may import what stands to its left. `wire` is what both ends of a connection share, `clients` what differs between agent programs. */
const MAY_IMPORT: Record<string, string[]> = {
  wire: ['wire'],
  storage: ['storage'],
  kernel: ['wire', 'storage', 'kernel'],
  clients: ['wire', 'kernel', 'clients'],
  machine: ['wire', 'kernel', 'clients', 'machine'],
  features: ['wire', 'storage', 'kernel', 'clients', 'machine', 'features'],
  surfaces: ['wire', 'storage', 'kernel', 'clients', 'machine', 'features', 'surfaces', 'main.ts', 'config.ts', 'version.ts'],
  'main.ts': ['storage', 'kernel', 'machine', 'features', 'config.ts', 'version.ts'],
  'config.ts': ['kernel'],
  'version.ts': [],
  bin: ['surfaces'],
};
const layerOf = (path: string) => path.split('/')[1] ?? '';

test('imports follow the law storage ← kernel ← features ← surfaces ← main', () => {
  const broken = all.filter(({ from, to, typeOnly }) => {
    if (!to.startsWith('src/')) return false;
    if (from === 'src/storage/database.ts' && typeOnly && /^src\/features\/.+\/tables\.ts$/.test(to)) return false;
    return !MAY_IMPORT[layerOf(from)]?.includes(layerOf(to));
  });
  expect(shown(broken)).toEqual([]);
});

test('surfaces take nothing but types from main', () => {
  const broken = all.filter(
    ({ from, to, typeOnly }) => from.startsWith('src/surfaces/') && to === 'src/main.ts' && !typeOnly && !from.startsWith('src/surfaces/cli/'),
  );
  expect(shown(broken)).toEqual([]);
});

test('a feature reaches another only through its index, a contract another through its contract', () => {
  const feature = (path: string) => featureFolders.find((folder) => path.startsWith(`${folder}/`));
  const isShape = (from: string, to: string) => from.endsWith('/contract.ts') && to.endsWith('/contract.ts');
  const broken = all.filter(({ from, to }) => feature(from) && feature(to) && feature(from) !== feature(to) && !to.endsWith('/index.ts') && !isShape(from, to));
  expect(shown(broken)).toEqual([]);
});

test('a command loads neither the database nor a feature that stands on it before it needs them', () => {
  const reached = new Set<string>();
  const reach = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { from, to, typeOnly, late } of all) if (from === path && !typeOnly && !late) reach(to);
  };
  reach('src/surfaces/cli/run.ts');
  expect(reached.size).toBeGreaterThan(50);
  expect([...reached].filter((path) => ['kysely', 'pg', 'node:sqlite', 'src/main.ts'].includes(path) || /^src\/features\/.*\/index\.ts$/.test(path))).toEqual(
    [],
  );
});

test('only storage imports a database driver', () => {
  // The companion reads the counters in other programs' stores, where there are any: not the product's own, and never at start.
  const isForeignStore = ({ from, late, typeOnly }: Import) => from === 'src/surfaces/companion/usage/sqlite.ts' && (late || typeOnly);
  const broken = all.filter((each) => ['pg', 'node:sqlite'].includes(each.to) && !each.from.startsWith('src/storage/') && !isForeignStore(each));
  expect(shown(broken)).toEqual([]);
});

test('only the machine layer runs programs and calls GitHub: no feature does by itself [review.boundary.machine-layer]', () => {
  const broken = all.filter(
    ({ from, to }) => from.startsWith('src/features/') && (/^(node:)?(child_process|cluster|net)$/.test(to) || to.startsWith('@octokit/')),
  );
  expect(shown(broken)).toEqual([]);
  // What they ask of it is one value each, which tests replace.
  const direct = all.filter(({ from, to, typeOnly }) => /^src\/features\/review\//.test(from) && to === 'src/machine/git/git.ts' && !typeOnly);
  expect(direct.filter(({ from }) => !/import \{ GitFailed \} from/.test(readFileSync(join(root, from), 'utf8')))).toEqual([]);
});

test('git is started in one place, which keeps the configuration of repositories from running programs [harden.git.no-programs]', () => {
  // Agents of the demo have a git of their own, as all agents do.
  const others = program.filter((path) => path !== 'src/machine/git/git-program.ts' && !path.startsWith('src/surfaces/demo/'));
  const starting = /\b(?:spawn|spawnSync|execFile|execFileSync|exec|execSync|fork|runProgram|startChild)\(\s*'git'/;
  expect(others.filter((path) => starting.test(readFileSync(join(root, path), 'utf8')))).toEqual([]);
  expect(shown(all.filter(({ from, to }) => to === 'src/machine/git/git-program.ts' && !/^src\/machine\/git\//.test(from)))).toEqual([]);
});

test('a contract imports zod, the kernel, the wire, the names of the clients, other contracts and pure rules of its own folder only', () => {
  const contracts = all.filter(({ from }) => from.endsWith('/contract.ts') && from.startsWith('src/features/'));
  const broken = contracts.filter(
    ({ from, to }) =>
      to !== 'zod' &&
      !to.startsWith('src/kernel/') &&
      !to.startsWith('src/wire/') &&
      to !== 'src/clients/client.ts' &&
      !/^src\/features\/.+\/contract\.ts$/.test(to) &&
      to !== 'src/storage/tables.ts' &&
      dirname(to) !== dirname(from),
  );
  expect(shown(broken)).toEqual([]);
});

test('the dashboard takes types only, from contracts and the kernel', () => {
  const broken = sources('web')
    .filter((path) => !path.endsWith('vite.config.ts'))
    .flatMap(importsOf)
    .filter(
      ({ to, typeOnly }) =>
        to.startsWith('src/') && !(typeOnly && (/^src\/features\/.+\/contract\.ts$/.test(to) || /^src\/kernel\/(contract|reply)\.ts$/.test(to))),
    );
  expect(shown(broken)).toEqual([]);
});

test('no code changes an event, and only pruning removes any [audit.journal.append-only]', () => {
  const doing = (what: RegExp) => program.filter((path) => !path.includes('/migrations/') && what.test(readFileSync(join(root, path), 'utf8')));
  expect(doing(/updateTable\('events'\)|(update|truncate) "?events\b/i)).toEqual([]);
  expect(doing(/deleteFrom\('events'\)|delete from "?events\b/i)).toEqual(['src/storage/journal-prune.ts']);
});

test('no product code imports the testing kit, and no folder or file is called utils, helpers, manager or common', () => {
  expect(shown(all.filter(({ to }) => to.startsWith('src/testing/')))).toEqual([]);
  expect([...program, ...sources('web')].filter((path) => /\b(utils?|helpers?|manager|common)\b/.test(path))).toEqual([]);
});

test('a feature folder has the files that every feature folder has', () => {
  for (const feature of featureFolders) {
    const files = readdirSync(join(root, feature));
    for (const needed of ['contract.ts', 'tools.ts', 'index.ts']) expect([feature, files]).toEqual([feature, expect.arrayContaining([needed])]);
  }
});
