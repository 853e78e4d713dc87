import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../kernel/reply.ts';
import { NotAFile } from '../../machine/files.ts';
import { type CycleConfig, FOLDER, NO_CONFIG, readConfig, withoutPsk } from './config.ts';
import type { CycleOutside } from './place.ts';

/** The size of the file is limited, because the repository is not trusted. Real configurations are far smaller. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** Reads the text of `config.json`. Returns null if the file does not exist. */
export async function configText({ files }: Pick<CycleOutside, 'files'>, repository: string): Promise<string | null> {
  try {
    return await files.readText(join(repository, FOLDER, 'config.json'), MAX_CONFIG_BYTES);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = error instanceof NotAFile ? error.why : code && `cannot be read (${code})`;
    throw why ? configInvalid(repository, why, 'Make it a regular file of at most 1 MB that the server can read, then repeat the call.') : error;
  }
}

/** Reads how the repository configures its cycles. Without a file, the default applies. An invalid file is refused. */
export async function configOf(outside: CycleOutside, repository: string): Promise<CycleConfig> {
  const text = await configText(outside, repository);
  if (text === null) return NO_CONFIG;
  const read = readConfig(text);
  if ('config' in read) return read.config;
  throw configInvalid(repository, read.faults.join('; '), 'Correct the file, then repeat the call.');
}

/** The real path of the file that contains the PSKs. Several folders may link to the same file. */
export async function realConfig(repository: string): Promise<string> {
  const path = join(repository, FOLDER, 'config.json');
  return await realpath(path).catch(() => path);
}

/** Used by calls that must know which role the caller has. They are refused unless every role has a PSK. */
export async function configWithPsks(outside: CycleOutside, repository: string): Promise<CycleConfig> {
  const config = await configOf(outside, repository);
  const [missing] = withoutPsk(config);
  if (missing === undefined) return config;
  throw configInvalid(
    repository,
    `agents.${missing}.psk is missing`,
    `Set \`agents.ROLE.psk\` for each of ${config.machine.roles.join(', ')}, or run \`covenant cycle init\` in the repository.`,
  );
}

const configInvalid = (repository: string, why: string, next: string): Refusal =>
  new Refusal('CONFIG_INVALID', `${repository}/${FOLDER}/config.json: ${why}.`, next);
