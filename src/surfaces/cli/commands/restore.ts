import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Config, loadConfig } from '../../../config.ts';
import type { RevivedToken } from '../../../features/core/identity/index.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { workspaceName } from '../../../kernel/ids.ts';
import { refuseWhileServed } from '../client.ts';
import { type CliCommand, CliError } from '../command.ts';
import { type CliOutput, counted, table } from '../output.ts';

export const restoreCommand: CliCommand = {
  name: 'restore',
  local: true,
  summary:
    'Put a backup in the place of the database. What was there is kept beside it. Tokens that have ended since the backup are revoked again; --keep-tokens lets them in.',
  positionals: ['FILE'],
  options: { 'keep-tokens': { type: 'boolean' } },
  async run(invocation) {
    const config = loadConfig(invocation.env);
    if (config.database_url) throw new CliError('UNSUPPORTED', 'This home keeps its data in PostgreSQL.', 'Restore it with pg_restore.');
    await refuseWhileServed(invocation.env, config.home, 'restore');
    const from = resolve(invocation.cwd, invocation.positionals[0] as string);
    await checkBackup(from);
    const copied = await anchorsBeside(config.home, `${from}.anchors`);
    const keepTokens = invocation.values['keep-tokens'] === true;
    const { now } = clockFrom(invocation.env);
    const { kept, compared, revived } = await putInPlace(from, config.database_path, keepTokens, now);
    await noteInAnchors(config, copied, now);
    return {
      json: {
        kind: 'restored',
        path: config.database_path,
        kept: kept ?? null,
        compared,
        revived_tokens: revived.map(({ token: { workspace_id, id, kind, label }, why }) => ({
          token_id: id,
          workspace: workspaceName(workspace_id),
          kind,
          label,
          why,
        })),
        revoked: !keepTokens,
      },
      text: `Restored ${from}.${kept ? ` What was there is at ${kept}.` : ''}${tokenLines(invocation.out.mark, { compared, revived, keepTokens })}`,
    };
  },
};

/** Nothing is replaced by a file that is not a sound Covenant database which this program can read. */
async function checkBackup(path: string): Promise<void> {
  if (!existsSync(path)) throw new CliError('FILE_NOT_FOUND', `There is no file ${path}.`, 'Give the path of a backup.');
  const [{ checkDatabaseFile }, { strangeObjects }] = await Promise.all([import('../../../storage/inspect.ts'), import('../../../storage/restored-file.ts')]);
  const problem = await checkDatabaseFile(path);
  if (problem) throw new CliError('BACKUP_UNUSABLE', `${path}: ${problem}`, 'Give the path of another backup.');
  const strange = await strangeObjects(path);
  if (strange.length > 0)
    throw new CliError(
      'BACKUP_ALTERED',
      `${path}: no backup of Covenant has this in its schema: ${strange.join('; ')}.`,
      'Give the path of another backup. Nothing was changed.',
    );
}

interface Restored {
  readonly kept: string | undefined;
  /** Whether there was a database whose tokens could be read. */
  readonly compared: boolean;
  readonly revived: readonly RevivedToken[];
}

/**
 * The database is there at every moment: the old one gets a second name, then the new one takes its first. VACUUM INTO
 * makes the copy, because what is restored may have a log beside it that a copy of the file alone would leave behind.
 */
async function putInPlace(from: string, database: string, keepTokens: boolean, now: () => number): Promise<Restored> {
  const [{ claimDatabaseFile }, { copyDatabase }, { tokensIn }, { revivedTokens }] = await Promise.all([
    import('../../../storage/inspect.ts'),
    import('../../../storage/copy-database.ts'),
    import('../../../storage/restored-file.ts'),
    import('../../../features/core/identity/index.ts'),
  ]);
  const folder = dirname(database);
  const fresh = `${database}.restoring`;
  const clear = () => ['', '-wal', '-shm'].forEach((suffix) => void rmSync(fresh + suffix, { force: true }));
  clear();
  let revived: RevivedToken[];
  let current: ReturnType<typeof tokensIn>;
  try {
    await copyDatabase(from, fresh);
    if (existsSync(database)) {
      const problem = claimDatabaseFile(database);
      if (problem) throw new CliError('DATABASE_IN_USE', `${database}: ${problem}`, 'Stop the program that has it open.');
      current = tokensIn(database);
    }
    revived = revivedTokens(tokensIn(fresh) ?? [], current, now());
    await settle(fresh, keepTokens ? [] : revived, now);
    const left = claimDatabaseFile(fresh);
    if (left) throw new CliError('DATABASE_IN_USE', `${fresh}: ${left}`, 'Stop the program that has it open.');
  } catch (error) {
    clear();
    throw error;
  }
  let kept: string | undefined;
  if (existsSync(database)) {
    kept = join(folder, 'backups', `replaced-${Date.now()}.db`);
    mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
    linkSync(database, kept);
    // A log that could not be merged belongs to the file that is put aside.
    for (const suffix of ['-wal', '-shm']) if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix);
  }
  renameSync(fresh, database);
  const entry = openSync(folder, 'r');
  fsyncSync(entry);
  closeSync(entry);
  return { kept, compared: current !== undefined, revived };
}

/** Before anybody can use it: links and device codes that somebody may still have are void, and tokens that have ended are revoked again. */
async function settle(path: string, revived: readonly RevivedToken[], now: () => number): Promise<void> {
  const [{ openStore }, { endRevived }] = await Promise.all([import('../../../storage/open.ts'), import('../../../features/core/identity/index.ts')]);
  const store = await openStore({ path, now, statementTimeoutMs: 3_600_000 });
  try {
    await endRevived(store, revived);
  } finally {
    await store.close();
  }
}

/** A home without anchors goes on with those of the backup: plain files that a home has, and nothing that leads elsewhere. */
async function anchorsBeside(home: string, folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const { anchorFolder, isAnchorFile } = await import('../../../storage/anchors/file.ts');
  const copied = new Map<string, Buffer>();
  if (existsSync(anchorFolder(home)) || !lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return copied;
  for (const name of readdirSync(folder).filter(isAnchorFile)) {
    const content = readPlainFile(join(folder, name));
    if (!content)
      throw new CliError('BACKUP_ALTERED', `${join(folder, name)} is no plain file.`, 'Remove it, or give the path of another backup. Nothing was changed.');
    copied.set(name, content);
  }
  return copied;
}

/** Undefined: there is nothing, or no plain file. No link is followed. */
function readPlainFile(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    return fstatSync(file).isFile() ? readFileSync(file) : undefined;
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'EMLINK', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A home that has its own anchors says in them what was put in their place. */
async function noteInAnchors(config: Config, copied: ReadonlyMap<string, Buffer>, now: () => number): Promise<void> {
  const [{ openStore }, { AnchorKeeper }, { anchoredWorkspaces }] = await Promise.all([
    import('../../../storage/open.ts'),
    import('../../../storage/anchors/keeper.ts'),
    import('../../../storage/anchors/file.ts'),
  ]);
  const keeper = new AnchorKeeper(config.home, config.anchors.key_file);
  if (copied.size > 0) mkdirSync(keeper.folder, { recursive: true, mode: 0o700 });
  for (const [name, content] of copied) writeFileSync(join(keeper.folder, name), content, { mode: 0o600, flag: 'wx' });
  if (!existsSync(keeper.folder)) return;
  const store = await openStore({ path: config.database_path, now, statementTimeoutMs: 3_600_000 });
  try {
    // Also those that the backup does not have: one that is made later under such a name begins anew.
    for (const workspace of anchoredWorkspaces(keeper.folder)) await keeper.replaced(store.reader, workspace, 'restored', now());
  } finally {
    await store.close();
  }
}

const WHY = {
  revoked: 'revoked since',
  expired: 'expired since',
  replaced: 'has another secret, holder or expiry since',
  unknown: 'not in the database that was replaced',
} as const satisfies Record<RevivedToken['why'], string>;

function tokenLines(
  mark: CliOutput['mark'],
  { compared, revived, keepTokens }: { compared: boolean; revived: readonly RevivedToken[]; keepTokens: boolean },
): string {
  if (revived.length === 0) return '';
  const why = compared ? 'work in the backup and did not work any more' : 'work in the backup; there was no readable database to compare them with';
  const done = keepTokens
    ? `${mark.wait} They work again, because of --keep-tokens.\n    next: covenant tokens revoke TOKEN_ID for each that must not`
    : `${mark.good} They were revoked.\n    next: covenant tokens create for those who need one; or restore the same file with --keep-tokens`;
  const rows = revived.map(({ token: { id, workspace_id, kind, label }, why: reason }) => [id, workspaceName(workspace_id), kind, label, WHY[reason]]);
  return `\n${counted(revived.length, 'token')} ${why}:\n${table(['TOKEN', 'WORKSPACE', 'KIND', 'LABEL', 'WHY'], rows)}\n${done}`;
}
