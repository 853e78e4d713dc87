import { existsSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { workspaceId } from '../../../kernel/ids.ts';
import { isAllowed } from '../../../machine/paths.ts';
import { VERSION } from '../../../version.ts';
import { refuseWhileServed } from '../client.ts';
import { type CliCommand, CliError, type CommandResult, everyFiveSeconds, type Invocation, interruptible, option } from '../command.ts';
import { prepareHome } from '../home.ts';

type WriteLines = (lines: string) => Promise<void>;

/** Whole and on disk, or not there: it gets its name at the end. */
async function writeWhole<T>(path: string, produce: (write: WriteLines) => Promise<T>): Promise<T> {
  const partial = `${path}.partial`;
  refuseExisting(path, 'Give another name, or remove it.');
  refuseExisting(partial, 'Another export writes it. If none does, one was killed: remove it.');
  const file = await create(partial);
  try {
    const made = await produce((lines) => file.appendFile(lines).catch(unwritten(path)));
    await file.sync().catch(unwritten(path));
    await file.close();
    refuseExisting(path, 'Give another name, or remove it.');
    await rename(partial, path);
    await syncFolder(dirname(path));
    return made;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(partial, { force: true });
    throw error;
  }
}

function refuseExisting(path: string, next: string): void {
  if (existsSync(path)) throw new CliError('FILE_EXISTS', `${path} is there already.`, next);
}

async function create(path: string): Promise<FileHandle> {
  return await open(path, 'wx', 0o600).catch((error: Error) => {
    throw new CliError('NOT_WRITABLE', `${path}: ${error.message}`, 'Give a path in a folder that you may write to.');
  });
}

const unwritten = (path: string) => (error: Error) => {
  throw new CliError('NOT_WRITABLE', `${path}: ${error.message}. Nothing is left of it.`, 'Make room there, or give a path on another disk.');
};

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync();
  await folder.close();
}

export const exportCommand: CliCommand = {
  name: 'export',
  summary:
    'Everything that one workspace holds, as JSON lines that either engine imports; taken while the server works. FILE - is stdout. --unverified: although the chain of its journal is broken.',
  positionals: ['[FILE]'],
  options: { unverified: { type: 'boolean' } },
  async run(invocation): Promise<CommandResult | undefined> {
    const name = option(invocation, 'workspace') ?? 'default';
    const workspace = workspaceId(name);
    const now = clockFrom(invocation.env).now();
    const given = invocation.positionals[0] ?? `covenant-${name}-${new Date(now).toISOString().slice(0, 10)}.jsonl`;
    const path = given === '-' ? undefined : resolve(invocation.cwd, given);
    const produce = (write: WriteLines, signal?: AbortSignal) => exportTo(invocation, workspace, now, write, signal);
    const { exported, bytes } = await (path === undefined
      ? produce(invocation.out.stream)
      : interruptible(
          (signal) => writeWhole(path, (write) => produce(write, signal)),
          new CliError('INTERRUPTED', 'The export was interrupted.', 'covenant export'),
        ));
    const rows = Object.values(exported.rows).reduce((sum, count) => sum + count, 0);
    if (!invocation.json) narrate(invocation, exported.firstBreak?.seq);
    if (path === undefined) return undefined;
    return {
      json: {
        kind: 'workspace_exported',
        path,
        workspace: name,
        bytes,
        rows: exported.rows,
        journal: exported.journal,
        verified: !invocation.values.unverified,
      },
      text: `${path} (${rows} rows, ${bytes} bytes) · journal ${exported.journal.seq} ${exported.journal.hash}`,
    };
  },
};

async function exportTo(invocation: Invocation, workspace: string, now: number, write: WriteLines, signal: AbortSignal | undefined) {
  const [{ exportWorkspace }, { openAsItIs }, { TransferRefused }] = await Promise.all([
    import('../../../storage/transfer/export.ts'),
    import('../../../storage/transfer/snapshot.ts'),
    import('../../../storage/transfer/format.ts'),
  ]);
  const config = loadConfig(invocation.env);
  const say = everyFiveSeconds(invocation);
  let bytes = 0;
  try {
    const engine = await openAsItIs({ url: config.database_url, path: config.database_path });
    try {
      const exported = await exportWorkspace(engine, {
        workspace,
        version: VERSION,
        now,
        unverified: invocation.values.unverified === true,
        write: async (lines) => {
          bytes += Buffer.byteLength(lines);
          await write(lines);
        },
        onRows: (rows) => say(() => `${rows} rows`),
        ...(signal ? { signal } : {}),
      });
      return { exported, bytes };
    } finally {
      await engine.close();
    }
  } catch (error) {
    throw error instanceof TransferRefused ? new CliError(error.code, error.message, error.next) : error;
  }
}

function narrate({ out, values }: Invocation, brokenAt: number | undefined): void {
  out.note(`${out.mark.wait} The file has the hashes of tokens and the tokens of open locks: keep it as you keep the database.`);
  if (!values.unverified) return;
  out.note(
    `${out.mark.wait} ${brokenAt === undefined ? 'The file says that its chain was not required to hold; it does' : `The chain breaks at event ${brokenAt}; the file says so`}.`,
  );
}

export const importCommand: CliCommand = {
  name: 'import',
  // The file names its workspace.
  local: true,
  summary:
    'Put an exported workspace into a database that does not have it, as a whole or not at all. Operator, web and instance tokens, sign-in links, device approvals and steps under way are left out. --unverified: without looking at the chain of its journal.',
  positionals: ['FILE'],
  options: { unverified: { type: 'boolean' } },
  async run(invocation): Promise<CommandResult> {
    const config = loadConfig(invocation.env);
    const given = invocation.positionals[0] as string;
    const file = given === '-' ? '/dev/stdin' : resolve(invocation.cwd, given);
    refuseUnlessFile(file);
    await refuseWhileServed(invocation.env, config.home, 'import');
    const { header, rows, leftOut, journal } = await importFrom(invocation, file, config);
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    const checked = invocation.values.unverified ? 'its chain was not looked at' : 'chain intact';
    return {
      json: {
        kind: 'workspace_imported',
        workspace: header.workspace.name,
        exported_at: header.exported_at,
        rows,
        left_out: leftOut,
        journal,
        verified: !invocation.values.unverified,
      },
      text: `Imported workspace ${header.workspace.name}: ${total} rows · ${checked} · journal ${journal.seq} ${journal.hash}${leftOutLines(leftOut)}`,
    };
  },
};

/** What the new server does not get from a file: who may come in, and what is under way outside the store. */
function leftOutLines(leftOut: Readonly<Record<string, number>>): string {
  const kinds = Object.entries(leftOut).map(([kind, count]) => `  ${String(count).padStart(6)} ${kind.replaceAll('_', ' ')}`);
  return kinds.length === 0 ? '' : `\nNot brought:\n${kinds.join('\n')}`;
}

/** It is read twice, which neither a pipe nor stdin can be. */
function refuseUnlessFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new CliError('FILE_NOT_FOUND', `There is no file ${path}.`, 'Give the path of an export.');
  if (!found.isFile())
    throw new CliError(
      'NOT_A_FILE',
      `${path} is a folder, a pipe or a device.`,
      'Give the path of an export; what comes from a pipe, write into a file first.',
    );
}

async function importFrom(invocation: Invocation, file: string, config: ReturnType<typeof loadConfig>) {
  const [
    { headerOf, importWorkspace },
    { openStore },
    { STATEMENT_TIMEOUT_MS },
    { TransferRefused },
    { IMPORT_RULES },
    { demoFolder },
    { AnchorKeeper },
    { agentTokenExpiry },
  ] = await Promise.all([
    import('../../../storage/transfer/import.ts'),
    import('../../../storage/open.ts'),
    import('../../../storage/transfer/snapshot.ts'),
    import('../../../storage/transfer/format.ts'),
    import('../../../features/import-rules.ts'),
    import('../../../features/people/demo/index.ts'),
    import('../../../storage/anchors/keeper.ts'),
    import('../../../features/core/identity/index.ts'),
  ]);
  const { now } = clockFrom(invocation.env);
  const folders = config.machine.repositories && [...config.machine.repositories, demoFolder(config.home)];
  const bytes = statSync(file).size;
  const say = everyFiveSeconds(invocation);
  const options = {
    file,
    unverified: invocation.values.unverified === true,
    rules: IMPORT_RULES,
    place: { now: now(), agentTokenEnd: agentTokenExpiry(now(), config.limits), isAllowed: (path: string) => isAllowed(path, folders) },
    onProgress: (rows: number, read: number) => say(() => `${rows} rows, ${Math.floor((100 * read) / Math.max(1, bytes))} %`),
  };
  try {
    // A file that is none of ours makes no home and no database.
    await headerOf(options);
    prepareHome(config.home);
    const store = await openStore({ url: config.database_url, path: config.database_path, now, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
    try {
      const imported = await importWorkspace(store.engine, options);
      const keeper = new AnchorKeeper(config.home, config.anchors.key_file);
      const { id } = imported.header.workspace;
      if (keeper.has(id)) await keeper.replaced(store.reader, id, 'imported', now());
      return imported;
    } finally {
      await store.close();
    }
  } catch (error) {
    throw error instanceof TransferRefused ? new CliError(error.code, error.message, error.next) : error;
  }
}
