import { existsSync } from 'node:fs';
import { delimiter, extname, join } from 'node:path';
import type { FileSpec, Programs } from '../../clients/client.ts';
import { ALL_CLIENTS, CLIENTS, type ClientName } from '../../clients/index.ts';
import { hasProgram } from '../../machine/process/find-program.ts';
import { PACKAGE_ROOT } from '../../version.ts';
import { shellQuoted } from '../../wire/shell-quoted.ts';
import { shownPath } from './edit/disk.ts';
import { requireInside, requireNoLink, resolveLinks } from './edit/links.ts';

export const installedClients = (env: NodeJS.ProcessEnv): ClientName[] =>
  ALL_CLIENTS.filter(({ programs, folders }) => programs.some((program) => hasProgram(program, env)) || folders(env).some((folder) => existsSync(folder))).map(
    ({ name }) => name,
  );

const inboxFile = (root: string): FileSpec => ({
  path: join(root, '.covibe/.gitignore'),
  scope: 'repository',
  entries: [{ kind: 'whole', what: 'inbox', text: '*\n', isDefault: true }],
});

/** Determines the configuration that setup writes for the agents of a repository. */
export interface SetupPlan {
  readonly env: NodeJS.ProcessEnv;
  /** The top of the working tree. */
  readonly root: string;
  readonly origin: string;
  /** Whether Claude Code's hooks for tool calls and prompts send an HTTP request to the server or run a command. */
  readonly hooks: 'http' | 'command';
  readonly clients: readonly ClientName[];
  /**
   * If set, setup writes only the server entry of each client, and neither hooks nor
   * the inbox. It removes the other entries that it wrote for these clients before.
   */
  readonly only?: 'server entry';
  readonly now: number;
}

/** A file that setup has to write, with the client that needs it. */
export interface DesiredFile extends FileSpec {
  readonly client: ClientName | undefined;
  readonly shown: string;
}

export function desiredFiles(plan: SetupPlan): DesiredFile[] {
  const setting = { ...plan, programs: programsFor(plan.env, plan.root) };
  const files = plan.clients.flatMap((client) => CLIENTS[client].files(setting).map((file) => ({ ...file, client })));
  const wanted = plan.only ? onlyThose(files, plan.only) : [...files, { ...inboxFile(plan.root), client: undefined }];
  return wanted.map((file) => ({ ...file, shown: shownPath(plan.env, plan.root, file.path) }));
}

/** Returns the path of the file after its links are resolved. Throws if setup must not write to that place. */
export function ownPlace({ path, scope, shown, entries }: DesiredFile, root: string): string {
  if (entries.some(({ kind }) => kind === 'whole')) requireNoLink(path, shown);
  if (scope === 'repository') requireInside(root, path, shown);
  return resolveLinks(path);
}

const onlyThose = <F extends FileSpec>(files: readonly F[], what: string): F[] =>
  files.map((file) => ({ ...file, entries: file.entries.filter((entry) => entry.what === what) })).filter(({ entries }) => entries.length > 0);

export function programsFor(env: NodeJS.ProcessEnv, root: string): Programs {
  const known = { ...env, PATH: lastingPath(env) };
  if (hasProgram('covibe-mcp', known) && hasProgram('covibe-local', known))
    return { by: 'name', bridge: ['covibe-mcp'], companion: () => 'covibe-local', companionArgs: ['covibe-local'] };
  if (existsSync(join(root, 'node_modules/.bin/covibe-local'))) {
    const npx = ['npx', '--no-install'];
    return {
      by: 'package',
      bridge: [...npx, 'covibe-mcp'],
      companion: (top) => (top === undefined ? 'npx --no-install covibe-local' : `${top}/node_modules/.bin/covibe-local`),
      companionArgs: [...npx, 'covibe-local'],
    };
  }
  const companion = [process.execPath, fileOf('covibe-local')];
  return { by: 'path', bridge: [process.execPath, fileOf('covibe-mcp')], companion: () => companion.map(shellQuoted).join(' '), companionArgs: companion };
}

/** Removes from the PATH the folders that npm adds for a single command, because agents are started without these folders. */
const lastingPath = ({ PATH = '' }: NodeJS.ProcessEnv): string =>
  PATH.split(delimiter)
    .filter((folder) => !/[\\/]node_modules[\\/]\.bin$/.test(folder))
    .join(delimiter);

/** Returns the path of a program in this package. If this process runs from source files, that is also a source file. Otherwise it is a built file. */
const fileOf = (program: string): string =>
  extname(import.meta.url) === '.ts' ? join(PACKAGE_ROOT, 'src/bin', `${program}.ts`) : join(PACKAGE_ROOT, 'dist/bin', `${program}.js`);
