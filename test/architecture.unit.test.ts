import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CLIENT_NAMES } from '../src/clients/client.ts';
import { ALL_CLIENTS } from '../src/clients/index.ts';
import { AGENTS } from '../web/pages/identity/agent.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
  /** True for a dynamic import, which is loaded only when its line runs. */
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
/** The folders of all features. A folder is a feature if it contains a contract. */
const featureFolders = program.filter((path) => path.startsWith('src/features/') && path.endsWith('/contract.ts')).map(dirname);
const shown = (imports: Import[]) => imports.map(({ from, to }) => `${from} → ${to}`);

/**
 * `storage ← kernel ← features ← surfaces ← main`: a layer may import the layers to its left. `wire` contains what both ends of a connection share,
 * `clients` what differs between agent programs.
 */
const MAY_IMPORT: Record<string, string[]> = {
  wire: ['wire'],
  storage: ['storage'],
  kernel: ['wire', 'storage', 'kernel'],
  clients: ['wire', 'kernel', 'clients'],
  machine: ['wire', 'kernel', 'clients', 'machine'],
  features: ['wire', 'storage', 'kernel', 'clients', 'machine', 'features'],
  surfaces: ['wire', 'storage', 'kernel', 'clients', 'machine', 'features', 'surfaces', 'main.ts', 'config.ts', 'version.ts'],
  'main.ts': ['storage', 'kernel', 'machine', 'features', 'config.ts', 'version.ts'],
  'config.ts': ['wire', 'kernel'],
  'version.ts': [],
  bin: ['surfaces', 'version.ts'],
};
const layerOf = (path: string) => path.split('/')[1] ?? '';

test('a layer imports only layers to its left in storage ← kernel ← features ← surfaces ← main', () => {
  const broken = all.filter(({ from, to }) => {
    if (!to.startsWith('src/')) return false;
    return !MAY_IMPORT[layerOf(from)]?.includes(layerOf(to));
  });
  expect(shown(broken)).toEqual([]);
});

test('surfaces other than the CLI import only types from main', () => {
  const broken = all.filter(
    ({ from, to, typeOnly }) => from.startsWith('src/surfaces/') && to === 'src/main.ts' && !typeOnly && !from.startsWith('src/surfaces/cli/'),
  );
  expect(shown(broken)).toEqual([]);
});

test('a feature imports another feature only through its index, or from contract to contract', () => {
  const feature = (path: string) => featureFolders.find((folder) => path.startsWith(`${folder}/`));
  const isShape = (from: string, to: string) => from.endsWith('/contract.ts') && to.endsWith('/contract.ts');
  const broken = all.filter(({ from, to }) => feature(from) && feature(to) && feature(from) !== feature(to) && !to.endsWith('/index.ts') && !isShape(from, to));
  expect(shown(broken)).toEqual([]);
});

/** Returns the file and all files that are loaded with it. */
function loadedBy(path: string, reached = new Set<string>()): Set<string> {
  if (reached.has(path)) return reached;
  reached.add(path);
  for (const { from, to, typeOnly, late } of all) if (from === path && !typeOnly && !late) loadedBy(to, reached);
  return reached;
}

/**
 * Files inside features that surfaces may import directly, each with the reason. A feature's index would load the database, and its contract would load zod.
 * The companion does not load zod, so that a hook takes little longer than the start of a process.
 */
const INSIDE: Record<string, string> = {
  'src/features/core/devices/connections.ts': 'the companion writes the connection settings of agent programs from this data, which needs no library',
  'src/features/team/usage/otel.ts': 'the companion reads counters by the same rules as the server',
  'src/features/team/usage/sources.ts': 'the companion reads counters by the same rules as the server',
  'src/features/team/usage/span.ts': 'the companion reads counters by the same rules as the server',
  'src/features/cycle/place.ts': 'the CLI finds the configuration of a repository from files, without a server',
  'src/features/cycle/config-file.ts': 'the CLI reads this configuration by the same rules as the server',
};

/** This file loads the stores of all groups. It may do so, because code that imports it has already opened the database. */
const IMPORT_RULES = 'src/features/import-rules.ts';

test('surfaces import features only through their index or contract, or a declared exception', () => {
  const around = all.filter(({ from, to }) => !from.startsWith('src/features/') && to.startsWith('src/features/') && !/\/(index|contract)\.ts$/.test(to));
  expect(shown(around.filter(({ to, late }) => !(to in INSIDE) && !(to === IMPORT_RULES && late)))).toEqual([]);
  expect([...Object.keys(INSIDE), IMPORT_RULES].filter((path) => !around.some(({ to }) => to === path))).toEqual([]);
  for (const path of Object.keys(INSIDE))
    expect([path, [...loadedBy(path)].filter((to) => to === 'kysely' || /^src\/features\/.*\/index\.ts$/.test(to))]).toEqual([path, []]);
});

/** Returns the files with the commands of a group, which its index loads. */
const commandFiles = (index: string) => [...new Set(all.filter(({ from, late }) => from === index && late).map(({ to }) => to))];

test('a command loads the database and database-backed features only when it needs them', () => {
  const reached = new Set(['src/surfaces/cli/run.ts', ...commandFiles('src/surfaces/cli/groups.ts')].flatMap((path) => [...loadedBy(path)]));
  expect(reached.size).toBeGreaterThan(50);
  expect([...reached].filter((path) => ['kysely', 'pg', 'node:sqlite', 'src/main.ts'].includes(path) || /^src\/features\/.*\/index\.ts$/.test(path))).toEqual(
    [],
  );
});

test('a command loads only its own group, and the start of a program loads no group [use.cli.light-start]', () => {
  for (const [start, index] of [
    ['src/surfaces/cli/run.ts', 'src/surfaces/cli/groups.ts'],
    ['src/surfaces/companion/run.ts', 'src/surfaces/companion/subcommands/index.ts'],
  ] as const) {
    const files = commandFiles(index);
    expect(files.length).toBeGreaterThan(4);
    expect([...loadedBy(start)].filter((path) => files.includes(path) || path === 'zod')).toEqual([]);
    for (const file of files) expect([file, [...loadedBy(file)].filter((path) => path !== file && files.includes(path))]).toEqual([file, []]);
  }
  // The programs must start fast, because agents wait for each hook.
  for (const bin of ['src/bin/covenant.ts', 'src/bin/covibe-local.ts']) expect([...loadedBy(bin)]).toEqual([bin]);
  expect([...loadedBy('src/version.ts')].filter((path) => path.startsWith('src/'))).toEqual(['src/version.ts']);
  expect([...loadedBy('src/surfaces/companion/subcommands/hook.ts')].filter((path) => path.startsWith('src/surfaces/companion/subcommands/'))).toEqual([
    'src/surfaces/companion/subcommands/hook.ts',
  ]);
});

test('a command that starts no external server does not load the MCP client', () => {
  expect([...loadedBy('src/features/gateway/servers/index.ts')]).not.toContain('@modelcontextprotocol/client');
});

test('only code in src/storage imports a database driver', () => {
  // The companion reads usage counters from the databases of other programs. That code does not open the product's own store, and it is never loaded at the
  // start.
  const isForeignStore = ({ from, late, typeOnly }: Import) => from === 'src/surfaces/companion/usage-readers/foreign-store.ts' && (late || typeOnly);
  const broken = all.filter((each) => ['pg', 'node:sqlite'].includes(each.to) && !each.from.startsWith('src/storage/') && !isForeignStore(each));
  expect(shown(broken)).toEqual([]);
});

test('only the machine layer runs programs and calls GitHub; features do not [review.boundary.machine-layer]', () => {
  const broken = all.filter(
    ({ from, to }) => from.startsWith('src/features/') && (/^(node:)?(child_process|cluster|net)$/.test(to) || to.startsWith('@octokit/')),
  );
  expect(shown(broken)).toEqual([]);
  // Features must use the object `gitDisk` instead, because tests replace it.
  const direct = all.filter(({ from, to, typeOnly }) => /^src\/features\/review\//.test(from) && to === 'src/machine/git/git.ts' && !typeOnly);
  expect(direct.filter(({ from }) => !/import \{ GitFailed \} from/.test(readFileSync(join(root, from), 'utf8')))).toEqual([]);
});

test('git is started in one place, which keeps repository configuration from running programs [harden.git.no-programs]', () => {
  // The agents of the demo are an exception, because agents run git themselves.
  const others = program.filter((path) => path !== 'src/machine/git/git-program.ts' && !path.startsWith('src/surfaces/demo-agents/'));
  const starting = /\b(?:spawn|spawnSync|execFile|execFileSync|exec|execSync|fork|runProgram|startChild)\(\s*'git'/;
  expect(others.filter((path) => starting.test(readFileSync(join(root, path), 'utf8')))).toEqual([]);
  expect(shown(all.filter(({ from, to }) => to === 'src/machine/git/git-program.ts' && !/^src\/machine\/git\//.test(from)))).toEqual([]);
});

test('a contract imports only zod, the kernel, the wire, client names, other contracts and pure rules of its own folder', () => {
  const contracts = all.filter(({ from }) => from.endsWith('/contract.ts') && from.startsWith('src/features/'));
  const broken = contracts.filter(
    ({ from, to }) =>
      to !== 'zod' &&
      !to.startsWith('src/kernel/') &&
      !to.startsWith('src/wire/') &&
      to !== 'src/clients/client.ts' &&
      !/^src\/features\/.+\/contract\.ts$/.test(to) &&
      to !== 'src/storage/journal.ts' &&
      dirname(to) !== dirname(from),
  );
  expect(shown(broken)).toEqual([]);
});

test('the dashboard imports only types, from contracts and the kernel', () => {
  const broken = sources('web')
    .filter((path) => !path.endsWith('vite.config.ts'))
    .flatMap(importsOf)
    .filter(
      ({ to, typeOnly }) =>
        to.startsWith('src/') && !(typeOnly && (/^src\/features\/.+\/contract\.ts$/.test(to) || /^src\/kernel\/(contract|reply)\.ts$/.test(to))),
    );
  expect(shown(broken)).toEqual([]);
});

test('no code changes an event, and only pruning deletes events [audit.journal.append-only]', () => {
  const doing = (what: RegExp) => program.filter((path) => !path.includes('/migrations/') && what.test(readFileSync(join(root, path), 'utf8')));
  expect(doing(/updateTable\('events'\)|(update|truncate) "?events\b/i)).toEqual([]);
  expect(doing(/deleteFrom\('events'\)|delete from "?events\b/i)).toEqual(['src/storage/journal-prune.ts']);
});

test('product code does not import the testing kit, and nothing is called utils, helpers, manager or common', () => {
  expect(shown(all.filter(({ to }) => to.startsWith('src/testing/')))).toEqual([]);
  expect([...program, ...sources('web')].filter((path) => /\b(utils?|helpers?|manager|common)\b/.test(path))).toEqual([]);
});

test('each folder name has only one meaning in src, and only one in web', () => {
  const folders = (top: string) =>
    readdirSync(join(root, top), { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  const repeated = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index);
  expect(folders('src').length).toBeGreaterThan(60);
  expect({ src: repeated(folders('src')), web: repeated(folders('web')) }).toEqual({ src: [], web: [] });
});

test('every feature folder has the standard files', () => {
  for (const feature of featureFolders) {
    const files = readdirSync(join(root, feature));
    for (const needed of ['contract.ts', 'index.ts']) expect([feature, files]).toEqual([feature, expect.arrayContaining([needed])]);
  }
});

/** Reads what the README of a group declares in a line such as `- May import: core, team`. */
const groups = ['core', 'team', 'workflow', 'gateway', 'cycle', 'review', 'people'];
const groupOf = (path: string) => groups.find((group) => path.startsWith(`src/features/${group}/`));
function listed(group: string, label: string): string[] {
  const text = readFileSync(join(root, 'src/features', group, 'README.md'), 'utf8');
  const [, line] = new RegExp(`^- ${label}: (.*)\\.$`, 'm').exec(text) ?? [];
  if (line === undefined) throw new Error(`the README of ${group} has no line "- ${label}: ….": write "none" if there are none`);
  return line === 'none' ? [] : line.split(', ').map((name) => name.replaceAll('`', ''));
}

test('every folder of src/features is a group and imports only what its README lists', () => {
  expect(readdirSync(join(root, 'src/features'), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []))).toEqual(
    groups.toSorted(),
  );
  for (const group of groups) {
    const own = all.filter(({ from, to }) => groupOf(from) === group && to.startsWith('src/features/') && groupOf(to) !== group);
    expect([group, [...new Set(own.map(({ to }) => groupOf(to) ?? to))].toSorted()]).toEqual([group, listed(group, 'May import')]);
  }
});

test('the core group imports other groups only in the code that answers hooks', () => {
  const broken = all.filter(
    ({ from, to }) => groupOf(from) === 'core' && !from.startsWith('src/features/core/hooks/') && to.startsWith('src/features/') && groupOf(to) !== 'core',
  );
  expect(shown(broken)).toEqual([]);
});

/** Returns the nodes that are part of a cycle. */
function inCircles<Arrow extends { from: string; to: string }>(arrows: readonly Arrow[]): Arrow[] {
  const next = Map.groupBy(arrows, ({ from }) => from);
  const reached = new Map<string, Set<string>>();
  for (const { to } of arrows) {
    if (reached.has(to)) continue;
    const found = new Set([to]);
    // The loop also visits nodes that are added while it runs.
    for (const each of found) for (const arrow of next.get(each) ?? []) found.add(arrow.to);
    reached.set(to, found);
  }
  return arrows.filter(({ from, to }) => reached.get(to)?.has(from));
}

test('feature folders have no circular imports', () => {
  const folderOf = (path: string) => featureFolders.find((folder) => path.startsWith(`${folder}/`));
  const between = all.flatMap(({ from, to }) => {
    const [own, other] = [folderOf(from), folderOf(to)];
    return own && other && own !== other ? [{ from: own, to: other, by: `${from} → ${to}` }] : [];
  });
  expect(between.length).toBeGreaterThan(150);
  expect(inCircles(between).map(({ by }) => by)).toEqual([]);
});

test('no file of src or web has a circular import at run time', () => {
  const found = [...all, ...sources('web').flatMap(importsOf)].filter(({ from, typeOnly }) => !typeOnly && !isTest(from));
  expect(found.length).toBeGreaterThan(2_000);
  expect(shown(inCircles(found))).toEqual([]);
});

test('the README of a group lists its tools and actions', async () => {
  const published = JSON.parse(readFileSync(join(root, 'test/published-tools.json'), 'utf8')) as { name: string }[];
  const tools = new Set(published.map(({ name }) => name));
  for (const group of groups) {
    const contracts = featureFolders.filter((folder) => groupOf(`${folder}/`) === group).map((folder) => import(join(root, folder, 'contract.ts')));
    const values = (await Promise.all(contracts)).flatMap((module: Record<string, unknown>) => Object.values(module));
    const names = new Set(values.flatMap((value) => (isContract(value) ? [value.name] : [])));
    const told = { tools: listed(group, 'Tools'), actions: listed(group, 'Actions') };
    const own = [...names].toSorted();
    expect([group, told]).toEqual([group, { tools: own.filter((name) => tools.has(name)), actions: own.filter((name) => !tools.has(name)) }]);
  }
});

const isContract = (value: unknown): value is { name: string } => typeof value === 'object' && value !== null && 'toolset' in value && 'name' in value;

/** Tables that the storage layer writes for all groups. */
const OF_STORAGE = ['events', 'journal_anchors', 'journal_heads', 'schema_migrations'];
const [, tablesText = ''] = /export interface Database \{([^}]*)\}/.exec(readFileSync(join(root, 'src/storage/schema-rows.ts'), 'utf8')) ?? [];
const tables = new Set(Array.from(tablesText.matchAll(/^ {2}(\w+):/gm), ([, name = '']) => name));

/** The one file that defines for all groups how long rows are stored. */
const RETENTION = 'src/features/retention.ts';

/** These files use variable table names. The names come from other groups, which pass their own tables, or from the schema, to delete a whole workspace. */
const GIVEN_TABLES = ['src/features/core/settings/retention.ts', 'src/features/people/demo/tools.ts'];

/** Returns the tables that a file writes and reads. If the table of a query is a variable, all tables whose names occur in the file count as read. */
function tablesIn(path: string): { written: string[]; read: string[] } {
  const text = readFileSync(join(root, path), 'utf8');
  const named = (pattern: RegExp, within = text) => Array.from(within.matchAll(pattern), ([, name = '']) => name).filter((name) => tables.has(name));
  const raw = Array.from(text.matchAll(/\bsql(?:<[^`]*?>)?`([^`]*)/g), ([, query = '']) => query).join('\n');
  const anywhere = GIVEN_TABLES.includes(path) ? [] : named(/'(\w+)'/g);
  const written = [
    ...named(/\b(?:insertInto|updateTable|deleteFrom|rowsOf)\(\s*'(\w+)/g),
    ...named(/\b(?:insertRows|insertNewRow|saveRows|changeRows|deleteRows|deleteEverywhere)\(\s*[\w.]+,\s*'(\w+)/g),
    ...named(/\b(?:insert into|update|delete from)\s+"?(\w+)/g, raw),
    ...(/\b(?:updateTable|deleteFrom|insertInto)\(\w+\)/.test(text) ? anywhere : []),
  ];
  const read = [
    ...named(/\b(?:selectFrom|innerJoin|leftJoin|from|using)\(\s*\[?\s*'(\w+)/g),
    ...named(/\b(?:matching|findRows?|hasRow|rowsById|countRows)\(\s*[\w.]+,\s*'(\w+)/g),
    ...named(/\b(?:from|join)\s+"?(\w+)/g, raw),
    ...(/\bselectFrom\(\w+( as '\w+')?\)|sql\.table\(/.test(text) ? anywhere : []),
  ];
  return { written, read };
}

test('a table is written only by the group that owns it, and read only by that group and the readers that READMEs declare', () => {
  const found = program.map((path) => ({ path, group: groupOf(path), ...tablesIn(path) }));
  const owners = new Map<string, string[]>();
  for (const group of groups) {
    const ours = found.filter((each) => each.group === group);
    const written = new Set(ours.flatMap((each) => each.written));
    const read = new Set(ours.flatMap((each) => each.read).filter((table) => !written.has(table)));
    expect([group, listed(group, 'Tables')]).toEqual([group, [...written].toSorted()]);
    expect([group, listed(group, 'Also reads')]).toEqual([group, [...read].toSorted()]);
    for (const table of written) owners.set(table, [...(owners.get(table) ?? []), group]);
  }
  expect([...owners].filter(([, several]) => several.length > 1)).toEqual([]);
  expect([...tables].filter((table) => !owners.has(table)).toSorted()).toEqual(OF_STORAGE);
  // No other code may query the database. Surfaces contain no queries, and the kernel only adds conditions to queries of others.
  const others = found.filter(({ path, group, written, read }) => !group && !path.startsWith('src/storage/') && written.length + read.length > 0);
  expect(others.map(({ path }) => path)).toEqual([RETENTION]);
  const [deleted] = others.map(({ written }) => new Set(written));
  expect(deleted?.size).toBeGreaterThan(10);
  expect([...(deleted ?? [])].filter((table) => !owners.has(table))).toEqual([]);
  expect(/insertInto|updateTable|update "?\w+"? set/.test(readFileSync(join(root, RETENTION), 'utf8'))).toBe(false);
});

test('no two exported types in the whole tree have the same name', () => {
  const declared = [...program, ...['web', 'bench', 'scripts', 'test'].flatMap(sources)]
    .filter((path) => !isTest(path))
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)(?!.* from )/gm)].map(([, name = '']) => ({
        name,
        path,
      })),
    );
  expect(declared.length).toBeGreaterThan(500);
  const several = [...Map.groupBy(declared, ({ name }) => name)].filter(([, places]) => places.length > 1);
  expect(several.map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(', ')}`)).toEqual([]);
});

test('what is specific to an agent program (files, hook events, file tools, variables) is only in src/clients', () => {
  const setting = {
    ...{ env: { HOME: '/home' }, root: '/repository', origin: 'http://localhost', hooks: 'command' as const },
    programs: { by: 'name' as const, bridge: ['bridge'], companion: () => 'companion', companionArgs: ['companion'] },
  };
  const literals = new Set<string>();
  const parts = new Set<string>();
  const variables = new Set<string>();
  for (const { files, hooks, commandMarks, folderVariables } of ALL_CLIENTS) {
    for (const name of [...Object.values(hooks.events), ...Object.keys(hooks.fileTools)]) literals.add(name);
    for (const { path } of files(setting)) parts.add(path.replace(/^\/(repository|home)\//, ''));
    for (const variable of [...commandMarks.set, ...folderVariables]) variables.add(variable);
  }
  // These words are not specific to an agent program, because Covenant uses them too.
  for (const plain of ['stop', 'write', 'edit', 'patch', 'bash', 'replace']) literals.delete(plain);
  variables.delete('XDG_CONFIG_HOME');
  for (const path of parts) parts.add(path.split('/')[0] ?? path);
  expect([literals.has('PreToolUse'), literals.has('apply_patch'), parts.has('.mcp.json'), variables.has('CODEX_HOME')]).toEqual([true, true, true, true]);
  const isNamed = (text: string) =>
    [...literals].some((name) => text.includes(`'${name}'`)) ||
    [...parts].some((part) => new RegExp(`(?<![\\w.?)\\]])${part.replaceAll('.', '\\.')}(?!\\w)`).test(text)) ||
    [...variables].some((variable) => new RegExp(`\\b${variable}\\b`).test(text));
  const elsewhere = program.filter((path) => !path.startsWith('src/clients/') && isNamed(readFileSync(join(root, path), 'utf8')));
  expect(elsewhere).toEqual([]);
});

/** These files contain ids of launchers, demo actors and usage sources from the contract. Some of these ids are spelled like the name of a program. */
const IDS_LIKE_PROGRAMS = ['src/features/review/instances/contract.ts', 'src/surfaces/demo-agents/stage.ts', 'src/features/team/usage/sources.ts'];

test('the display names and commands of agent programs are only in src/clients', () => {
  const displayNames = ALL_CLIENTS.map(({ displayName }) => displayName);
  const programs = ALL_CLIENTS.flatMap((client) => client.programs).filter((name) => !CLIENT_NAMES.some((id) => id === name));
  expect([displayNames.length, programs.includes('claude')]).toEqual([CLIENT_NAMES.length, true]);
  const quoted = (path: string) =>
    Array.from(
      readFileSync(join(root, path), 'utf8')
        .replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
        .matchAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g),
      ([text]) => text.slice(1, -1),
    );
  const named = (path: string) =>
    quoted(path).filter(
      (text) =>
        displayNames.some((name) => !CLIENT_NAMES.some((id) => id === name) && new RegExp(`\\b${name}\\b`).test(text)) ||
        (!IDS_LIKE_PROGRAMS.includes(path) && programs.includes(text)),
    );
  const elsewhere = program.filter((path) => !path.startsWith('src/clients/')).flatMap((path) => named(path).map((text) => `${path}: ${text}`));
  expect(elsewhere).toEqual([]);
});

test('the dashboard, which imports only types, uses the same names for agent programs as src/clients', () => {
  expect(AGENTS).toEqual(ALL_CLIENTS.map(({ name, displayName }) => [name, displayName]));
});
