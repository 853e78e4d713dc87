import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import { isAllowed } from '../../../machine/paths.ts';
import { refuseWhileServed } from '../client.ts';
import { type CliCommand, CliError, type CommandResult, type Invocation } from '../command.ts';
import { prepareHome } from '../home.ts';
import { everyFiveSeconds } from '../progress.ts';

export const importCommand: CliCommand = {
  name: 'import',
  // The import has no --workspace, because the file names its workspace.
  local: true,
  summary: 'Add an exported workspace to this database.',
  description:
    'Stop the server first. If the import fails, nothing changes. It leaves out operator, web and instance tokens, sign-in links, device approvals and unfinished operations.',
  arguments: [{ name: 'FILE', description: 'The file that `covenant export` wrote.' }],
  options: { unverified: { description: 'Do not verify the hash chain of the journal.' } },
  examples: ['import shop.jsonl'],
  async run(invocation): Promise<CommandResult> {
    const config = loadConfig(invocation.env);
    const given = invocation.positionals[0] as string;
    const file = given === '-' ? '/dev/stdin' : resolve(invocation.cwd, given);
    refuseUnlessFile(file);
    await refuseWhileServed(invocation.env, config.home, 'import');
    const { header, rows, leftOut, journal } = await importFrom(invocation, file, config);
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    const checked = invocation.values.unverified ? 'chain not verified' : 'chain intact';
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

/** Lists how many rows the import left out, such as credentials and operations that had unfinished work outside the database. */
function leftOutLines(leftOut: Readonly<Record<string, number>>): string {
  const kinds = Object.entries(leftOut).map(([kind, count]) => `  ${String(count).padStart(6)} ${kind.replaceAll('_', ' ')}`);
  return kinds.length === 0 ? '' : `\nLeft out:\n${kinds.join('\n')}`;
}

/** Refuses a pipe, because the import reads the file twice. */
function refuseUnlessFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new CliError('FILE_NOT_FOUND', `The file ${path} does not exist.`, 'Give the path of an export.');
  if (!found.isFile())
    throw new CliError('NOT_A_FILE', `${path} is a folder, a pipe or a device.`, 'Give the path of an export. Write the output of a pipe to a file first.');
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
    // Checks the header first, so that the command creates no home and no database if the file is not an export.
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
