import { existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { workspaceId } from '../../../kernel/ids.ts';
import { VERSION } from '../../../version.ts';
import { type CliCommand, CliError, type CommandResult, type Invocation, interruptible, option } from '../command.ts';
import { everyFiveSeconds } from '../progress.ts';

type WriteLines = (lines: string) => Promise<void>;

/** Writes to a partial file first. The file gets its final name only after it is complete and stored on disk. */
async function writeWhole<T>(path: string, produce: (write: WriteLines) => Promise<T>): Promise<T> {
  const partial = `${path}.partial`;
  refuseExisting(path, 'Give another name, or remove that file.');
  refuseExisting(partial, 'Another export is writing it. If none is running, remove that file.');
  const file = await create(partial);
  try {
    const made = await produce((lines) => file.appendFile(lines).catch(unwritten(path)));
    await file.sync().catch(unwritten(path));
    await file.close();
    refuseExisting(path, 'Give another name, or remove that file.');
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
  if (existsSync(path)) throw new CliError('FILE_EXISTS', `${path} exists already.`, next);
}

async function create(path: string): Promise<FileHandle> {
  return await open(path, 'wx', 0o600).catch((error: Error) => {
    throw new CliError('NOT_WRITABLE', `${path}: ${error.message}`, 'Give a path in a folder that you may write to.');
  });
}

const unwritten = (path: string) => (error: Error) => {
  throw new CliError('NOT_WRITABLE', `${path}: ${error.message}. The unfinished file was removed.`, 'Free some space there, or give a path on another disk.');
};

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync();
  await folder.close();
}

export const exportCommand: CliCommand = {
  name: 'export',
  summary: 'Write one workspace to a file.',
  description: 'Writes JSON lines, also while the server runs. A server with SQLite or PostgreSQL can import them. The file contains the hashes of tokens.',
  arguments: [{ name: 'FILE', description: 'The path of a new file, or - for standard output. Default: covenant-WORKSPACE-DATE.jsonl.', optional: true }],
  options: { unverified: { description: 'Export even if the hash chain of the journal is broken.' } },
  examples: ['export', 'export shop.jsonl --workspace shop'],
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
          new CliError('INTERRUPTED', 'The export was interrupted.', 'Run the command again.'),
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
  out.note(`${out.mark.wait} The file contains the hashes of tokens and the tokens of open locks. Protect it like the database.`);
  if (!values.unverified) return;
  out.note(
    `${out.mark.wait} ${brokenAt === undefined ? 'The chain is intact, but the file is marked as unverified' : `The chain breaks at event ${brokenAt}. The file states this`}.`,
  );
}
