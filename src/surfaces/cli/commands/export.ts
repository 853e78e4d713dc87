import { existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { workspaceId } from '../../../kernel/ids.ts';
import { VERSION } from '../../../version.ts';
import { type CliCommand, CliError, type CommandResult, everyFiveSeconds, type Invocation, interruptible, option } from '../command.ts';

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
