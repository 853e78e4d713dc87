import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError, configFileProblems, loadConfig } from '../../../../config.ts';
import { credentialsPath } from '../../home.ts';
import { check, type DoctorContext } from './check.ts';

const DAY_MS = 24 * 3_600_000;
const BACKUP_DAYS = 7;
/** Unfinished files are reported only if they are older than this, because a newer file may still be in use. */
const LEFT_MS = 10 * 60_000;

/** Checks that other accounts cannot read the credentials or the database. With the credentials, anyone can act as the operator. */
export const home = check('home', ['HOME_OPEN', 'HOME_READ_ONLY'], (say, { home: folder, config }) => {
  if (!existsSync(folder)) return say.skipped(`${folder} does not exist yet: covenant up creates it`);
  const isWritable = canWrite(folder);
  const files = [credentialsPath(folder), ...(config && !config.database_url ? [config.database_path] : [])];
  const findings = [folder, ...files]
    .filter((path) => existsSync(path))
    .flatMap((path) => {
      const mode = statSync(path).mode & 0o777;
      const isFolder = path === folder;
      // Other accounts may list the files in the folder, because the files are private. But they must not be able to add or replace files.
      if (process.platform === 'win32' || !(mode & (isFolder ? 0o022 : 0o077))) return [];
      const may = isFolder ? 'write to' : 'read';
      return [say.failed('HOME_OPEN', `other accounts can ${may} ${path} (mode 0${mode.toString(8)})`, `chmod ${isFolder ? '700' : '600'} ${path}`)];
    });
  if (!isWritable)
    findings.push(say.failed('HOME_READ_ONLY', `${folder} is not writable`, `give it to the account that runs covenant: chown -R USER ${folder}`));
  return findings.length > 0 ? findings : say.ok(`${folder} is private`);
});

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Reports all wrong settings at once. The server itself stops at the first wrong setting. */
export const config = check('config', ['CONFIG_INVALID'], async (say, { env, home: folder }) => {
  try {
    loadConfig(env);
    return say.ok('configuration is valid');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const wrong = await wrongInFile(folder);
    if (wrong.length === 0) return say.failed('CONFIG_INVALID', error.message, 'correct that setting');
    return wrong.map((message) => say.failed('CONFIG_INVALID', message, 'correct that line; docs/configuration.md lists the settings'));
  }
});

/**
 * Returns the faults in config.toml, each with its line. Empty if the file cannot be parsed or the invalid value comes from the environment. In both cases
 * the error message already says where the fault is.
 */
async function wrongInFile(folder: string): Promise<string[]> {
  const path = join(folder, 'config.toml');
  try {
    const problems = configFileProblems(folder);
    if (problems.length === 0) return [];
    const { blocksOf } = await import('../../../../features/gateway/servers/index.ts');
    const blocks = blocksOf(readFileSync(path, 'utf8').replaceAll('\r\n', '\n'), []);
    return problems.map(({ key, message }) => `${path}:${lineOf(blocks, key)}: ${key}: ${message}`);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

interface Lines {
  readonly line: number;
  readonly header: readonly string[];
  readonly keys: ReadonlyMap<string, number>;
}

/** Returns the line of a setting. If the file does not contain the whole key, returns the line of the longest part of the key that it contains. */
function lineOf(blocks: readonly Lines[], key: string): number {
  const path = key.split('.');
  for (let length = path.length; length > 0; length--) {
    for (const { line, header, keys } of blocks.toReversed()) {
      if (!header.every((part, place) => part === path[place])) continue;
      const below = path.slice(header.length, length).join('.');
      const found = below === '' && header.length === length ? line : keys.get(below);
      if (found !== undefined) return found;
    }
  }
  return 1;
}

export const backups = check('backup', ['BACKUP_MISSING', 'BACKUP_OLD'], async (say, place) => {
  const { config: settings, now } = place;
  if (!settings) return say.skipped('backups are not checked while the configuration is invalid');
  if (settings.database_url) return say.skipped('copies made by pg_dump cannot be checked');
  if (!existsSync(settings.database_path)) return say.skipped('there is no database to back up yet');
  const { inspectDatabaseFile } = await import('../../../../storage/inspect.ts');
  const { madeAt } = inspectDatabaseFile(settings.database_path, 'look');
  const newest = Math.max(0, ...filesIn(backupFolders(place), /^(?!replaced-).*\.db$/).map(({ time }) => time));
  const days = (time: number): number => Math.floor((now - time) / DAY_MS);
  if (newest > 0 && days(newest) < BACKUP_DAYS) return say.ok(`the last backup was made ${days(newest) === 0 ? 'today' : `${days(newest)} days ago`}`);
  if (newest > 0) return say.warning('BACKUP_OLD', `the last backup is ${days(newest)} days old`, 'covenant backup');
  if (madeAt === null || days(madeAt) < BACKUP_DAYS) return say.ok(`no backup yet, and the database is newer than ${BACKUP_DAYS} days`);
  return say.warning('BACKUP_MISSING', `the database is ${days(madeAt)} days old and has no backup in ${backupFolders(place).join(' or ')}`, 'covenant backup');
});

const backupFolders = ({ home: folder, config: settings }: DoctorContext): string[] => [
  ...new Set([join(folder, 'backups'), ...(settings ? [join(dirname(settings.database_path), 'backups')] : [])]),
];

/** Looks for files that an interrupted backup, restore or export left behind. */
export const leftovers = check('leftovers', ['LEFTOVER_FILES'], (say, place) => {
  const folders = [...new Set([place.home, ...(place.config ? [dirname(place.config.database_path)] : []), ...backupFolders(place)])];
  const left = filesIn(folders, /\.(partial|restoring)$/).filter(({ time }) => place.now - time > LEFT_MS);
  if (left.length === 0) return say.ok('no command left an unfinished file');
  return left.map(({ path }) => say.warning('LEFTOVER_FILES', `${path} is an unfinished file that nothing uses`, `rm ${path}`));
});

function filesIn(folders: readonly string[], name: RegExp): { path: string; time: number }[] {
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((file) => name.test(file))
        .map((file) => join(folder, file)),
    )
    .flatMap((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found?.isFile() ? [{ path, time: found.mtimeMs }] : [];
    });
}
