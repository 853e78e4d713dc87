import { realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { CallContext } from '../../kernel/context.ts';
import { Refusal } from '../../kernel/errors.ts';
import { invalidInput } from '../../kernel/input.ts';
import { isAllowed } from '../../machine/allowed.ts';
import { repositoryAround } from '../../machine/around.ts';
import { type FileDisk, NotAFile } from '../../machine/files.ts';
import { type CycleConfig, FOLDER, NO_CONFIG, readConfig, withoutPsk } from './config.ts';
import { configInvalid } from './refusals.ts';

/** The machine outside the store, and which repositories on it may be touched. */
export interface Outside {
  readonly files: FileDisk;
  /** Folders under which repositories may be; undefined: anywhere. */
  readonly repositories: readonly string[] | undefined;
}

/** The folder whose cycles are meant, without symbolic links: the nearest with a broker folder, else the repository, else the folder itself. */
export async function repositoryOf({ files, repositories }: Outside, named: string | undefined, ctx: Pick<CallContext, 'repository'>): Promise<string> {
  const path = named ?? ctx.repository;
  if (!path) throw invalidInput([{ field: 'repository_path', message: 'expected the path of the repository: your client does not report where it works' }]);
  const folder = await realpath(path).catch(() => undefined);
  if (!folder || !(await files.isFolder(folder)))
    throw invalidInput([{ field: 'repository_path', message: `there is no folder ${path} on the server's machine` }]);
  const repository = await nearest(files, folder, repositoryAround(folder));
  if (!isAllowed(repository, repositories)) {
    throw new Refusal(
      'CONFIG_INVALID',
      `This server does not touch repositories at ${repository}.`,
      'Let the operator add its folder to repositories under [machine] in config.toml.',
      { field: 'repository_path' },
    );
  }
  return repository;
}

/** A part of a repository may have cycles of its own; a worktree has those of its repository, also where it lies in it and has the folder checked out. */
async function nearest(files: FileDisk, folder: string, repository: string): Promise<string> {
  let found = repository;
  for (let at = folder; at.startsWith(`${repository}${sep}`); at = dirname(at)) {
    if ((await files.readText(join(at, '.git')).catch(() => null)) !== null) return repository;
    if (found === repository && (await files.isFolder(join(at, FOLDER)))) found = at;
  }
  return found;
}

/** What the repository says of its cycles; without a file the default. A file that cannot be understood is refused. */
export async function configOf({ files }: Outside, repository: string): Promise<CycleConfig> {
  const text = await files.readText(join(repository, FOLDER, 'config.json')).catch((error: unknown) => {
    throw error instanceof NotAFile ? configInvalid(repository, 'it is not a file', 'Put a file there and call again.') : error;
  });
  if (text === null) return NO_CONFIG;
  const read = readConfig(text);
  if ('config' in read) return read.config;
  throw configInvalid(repository, read.faults.join('; '), 'Correct the file and call again.');
}

/** For what needs to know the roles from each other: each must have a PSK. */
export async function sensitiveConfig(outside: Outside, repository: string): Promise<CycleConfig> {
  const config = await configOf(outside, repository);
  const [missing] = withoutPsk(config);
  if (missing === undefined) return config;
  throw configInvalid(
    repository,
    `agents.${missing}.psk is missing`,
    `Put a psk there for each of ${config.machine.roles.join(', ')}, or run: covenant cycle init.`,
  );
}
