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
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Config, loadConfig } from '../../../config.ts';
import type { RevivedToken } from '../../../features/core/identity/index.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { workspaceName } from '../../../kernel/ids.ts';
import { shellQuoted } from '../../../wire/shell-quoted.ts';
import { refuseWhileServed } from '../client.ts';
import { type CliCommand, CliError, type Invocation } from '../command.ts';
import { type CliOutput, counted, type TableShape, table } from '../output.ts';
import { working } from '../progress.ts';

export const restoreCommand: CliCommand = {
  name: 'restore',
  local: true,
  summary: 'Replace the database with a backup.',
  description:
    'Stop the server first. The old database is kept in the folder backups. If a token was revoked or expired after the backup was made, the command revokes it again.',
  arguments: [{ name: 'FILE', description: 'The file that `covenant backup` wrote.' }],
  options: { 'keep-tokens': { description: 'Do not revoke the tokens that were revoked or expired after the backup was made. They then work again.' } },
  examples: ['restore ~/.covenant/backups/covenant-1790000000000.db'],
  async run(invocation) {
    const config = loadConfig(invocation.env);
    if (config.database_url)
      throw new CliError(
        'UNSUPPORTED',
        'This home stores its data in PostgreSQL.',
        'Stop every server and restore it with `pg_restore`. Then, for each workspace, run `covenant audit anchor --after-restore --workspace NAME` before you start a server.',
      );
    await refuseWhileServed(invocation.env, config.home, 'restore');
    const from = resolve(invocation.cwd, invocation.positionals[0] as string);
    const say = announcer(invocation, from);
    say('Checking the backup');
    await checkBackup(from);
    const copied = await anchorsBeside(config.home, `${from}.anchors`);
    const keepTokens = invocation.values['keep-tokens'] === true;
    const { now } = clockFrom(invocation.env);
    say('Copying the backup');
    const { kept, compared, revived } = await working(invocation, 'Restoring', () => putInPlace(from, config.database_path, keepTokens, now));
    say('Updating the anchors');
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
      text: `Restored ${from}.${kept ? ` The old database is at ${kept}.` : ''}${tokenLines(invocation.out, { compared, revived, keepTokens })}`,
    };
  },
};

const LARGE_BYTES = 64 * 1024 * 1024;

/** Announces each step before it starts. A timer could not report progress, because no timer runs while SQLite checks a large file. */
function announcer({ out, json }: Invocation, path: string): (step: string) => void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return (step) => {
    if (!json && size > LARGE_BYTES) out.note(`${step} (${Math.round(size / 1024 / 1024)} MiB)`);
  };
}

/** Refuses a file that is damaged, that is not a Covenant database, or that belongs to another version. */
async function checkBackup(path: string): Promise<void> {
  if (!existsSync(path)) throw new CliError('FILE_NOT_FOUND', `The file ${path} does not exist.`, 'Give the path of a backup.');
  const [{ checkDatabaseFile }, { strangeObjects }] = await Promise.all([import('../../../storage/inspect.ts'), import('../../../storage/restored-file.ts')]);
  const problem = await checkDatabaseFile(path);
  if (problem) throw new CliError('BACKUP_UNUSABLE', `${path}: ${problem}`, 'Give the path of another backup.');
  const strange = await strangeObjects(path);
  if (strange.length > 0)
    throw new CliError(
      'BACKUP_ALTERED',
      `${path}: the schema of a Covenant backup never contains this: ${strange.join('; ')}.`,
      'Give the path of another backup. Nothing was changed.',
    );
}

const databaseInUse = (file: string, problem: string): CliError =>
  new CliError('DATABASE_IN_USE', `${file}: ${problem}`, `Find the program with \`fuser ${shellQuoted(file)}\` and stop it, then run the command again.`);

interface Restored {
  readonly kept: string | undefined;
  /** Whether the tokens of the replaced database could be read. */
  readonly compared: boolean;
  readonly revived: readonly RevivedToken[];
}

/**
 * Makes sure that a database file exists at the path at every moment. For this, the old file first gets a second name, and then the new file replaces it.
 * VACUUM INTO copies the backup, because a plain copy of the file would not include its write-ahead log.
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
      if (problem) throw databaseInUse(database, problem);
      current = tokensIn(database);
    }
    revived = revivedTokens(tokensIn(fresh) ?? [], current, now());
    await settle(fresh, keepTokens ? [] : revived, now);
    const left = claimDatabaseFile(fresh);
    if (left) throw databaseInUse(fresh, left);
  } catch (error) {
    clear();
    throw error;
  }
  let kept: string | undefined;
  if (existsSync(database)) {
    kept = join(folder, 'backups', `replaced-${Date.now()}.db`);
    mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
    linkSync(database, kept);
    // A write-ahead log that could not be merged belongs to the old file, so it is moved together with that file.
    for (const suffix of ['-wal', '-shm']) if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix);
  }
  renameSync(fresh, database);
  const entry = openSync(folder, 'r');
  fsyncSync(entry);
  closeSync(entry);
  return { kept, compared: current !== undefined, revived };
}

/** Cancels sign-in links and device codes, and revokes tokens that were revoked or expired after the backup. Runs before anyone can use the database. */
async function settle(path: string, revived: readonly RevivedToken[], now: () => number): Promise<void> {
  const [{ openStore }, { endRevived }] = await Promise.all([import('../../../storage/open.ts'), import('../../../features/core/identity/index.ts')]);
  const store = await openStore({ path, now, statementTimeoutMs: 3_600_000 });
  try {
    await endRevived(store, revived);
  } finally {
    await store.close();
  }
}

/** Returns the anchors next to the backup if the home has no anchors, so that they can be copied into the home. Reads only plain files and follows no links. */
async function anchorsBeside(home: string, folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const { anchorFolder, isAnchorFile } = await import('../../../storage/anchors/file.ts');
  const copied = new Map<string, Buffer>();
  if (existsSync(anchorFolder(home)) || !lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return copied;
  for (const name of readdirSync(folder).filter(isAnchorFile)) {
    const content = readPlainFile(join(folder, name));
    if (!content)
      throw new CliError('BACKUP_ALTERED', `${join(folder, name)} is not a plain file.`, 'Remove it, or give the path of another backup. Nothing was changed.');
    copied.set(name, content);
  }
  return copied;
}

/** Reads a plain file. Returns undefined if the path is a link or not a plain file. */
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

/** Copies the anchors of the backup into the home if there are any, and records the restore in the anchors of the home. */
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
    // Includes workspaces that the backup does not contain. If a workspace with the same name is created later, it starts a new chain.
    for (const workspace of anchoredWorkspaces(keeper.folder)) await keeper.replaced(store.reader, workspace, 'restored', now());
  } finally {
    await store.close();
  }
}

const TOKENS: TableShape = {
  head: ['TOKEN', 'WORKSPACE', 'KIND', 'LABEL', 'WHY'],
  narrow: [
    ['LABEL', 12],
    ['KIND', 0],
    ['WORKSPACE', 0],
    ['WHY', 16],
  ],
};
const WHY = {
  revoked: 'revoked since',
  expired: 'expired since',
  replaced: 'secret, holder or expiry changed since',
  unknown: 'not in the replaced database',
} as const satisfies Record<RevivedToken['why'], string>;

function tokenLines(
  { mark, columns }: CliOutput,
  { compared, revived, keepTokens }: { compared: boolean; revived: readonly RevivedToken[]; keepTokens: boolean },
): string {
  if (revived.length === 0) return '';
  const why = compared
    ? 'of the backup had been revoked or had expired since the backup'
    : 'of the backup cannot be compared, because the old database was missing or unreadable';
  const done = keepTokens
    ? `${mark.wait} They work again, because of --keep-tokens.\n    next: covenant tokens revoke TOKEN_ID, for each token that must not work`
    : `${mark.good} They were revoked.\n    next: covenant tokens create --developer NAME, or restore the same file with --keep-tokens`;
  const rows = revived.map(({ token: { id, workspace_id, kind, label }, why: reason }) => [id, workspaceName(workspace_id), kind, label, WHY[reason]]);
  return `\n${counted(revived.length, 'token')} ${why}:\n${table(TOKENS, rows, columns)}\n${done}`;
}
