import { loadConfig } from '../../../config.ts';
import type { anchorJournal, rotateAnchorKey } from '../../../features/core/events/contract.ts';
import { clockFrom } from '../../../kernel/clock.ts';
import type { Output } from '../../../kernel/contract.ts';
import { workspaceId } from '../../../kernel/workspace.ts';
import { asking, type CliCommand, CliError, type CommandResult, type Invocation, option } from '../command.ts';
import { refuseWhileServed } from '../served.ts';

const ask = asking<{ 'journal.anchor': Output<typeof anchorJournal>; 'journal.rotate_key': Output<typeof rotateAnchorKey> }>();

/** Written by the server, so that one process has the file. */
export async function writeAnchor(invocation: Invocation): Promise<CommandResult> {
  const anchored = await ask(invocation, 'journal.anchor');
  return { json: { kind: 'audit_anchor', ...anchored }, text: `${anchored.seq} ${anchored.root}` };
}

/**
 * Sets aside what the journal no longer agrees with. By whoever has the home, never by the server: its callers are in the database, and whoever
 * writes that could be any of them.
 */
async function anchorAfterRestore(invocation: Invocation): Promise<CommandResult> {
  const [{ openStore }, { AnchorKeeper }] = await Promise.all([import('../../../storage/open.ts'), import('../../../storage/anchors/keeper.ts')]);
  const config = loadConfig(invocation.env);
  await refuseWhileServed(invocation.env, config.home, 'anchor');
  const name = option(invocation, 'workspace') ?? 'default';
  const workspace = workspaceId(name);
  const keeper = new AnchorKeeper(config.home, config.anchors.key_file);
  if (!keeper.has(workspace))
    throw new CliError('NO_ANCHORS', `This home has no anchors of the workspace ${name}, so there is nothing to set aside.`, 'covenant audit anchor');
  const { now } = clockFrom(invocation.env);
  const store = await openStore({ url: config.database_url, path: config.database_path, now, statementTimeoutMs: 3_600_000 });
  try {
    const { record, publicKey, path } = await keeper.replaced(store.reader, workspace, 'restored', now());
    const json = { kind: 'audit_anchor', seq: record.seq, root: record.hash, time: record.at, path, public_key: publicKey, anchor: record };
    return { json, text: `${record.seq} ${record.hash}` };
  } finally {
    await store.close();
  }
}

export const anchorCommands: readonly CliCommand[] = [
  {
    name: 'audit anchor',
    summary:
      'Write a signed anchor of the journal now, and print it: keep it where nobody who can write this home can reach it. --after-restore, while no server of this home runs: the database was put back by pg_restore or by hand.',
    options: { 'after-restore': { type: 'boolean' } },
    run: (invocation) => (invocation.values['after-restore'] === true ? anchorAfterRestore(invocation) : writeAnchor(invocation)),
  },
  {
    name: 'audit rotate-key',
    summary: 'Make a new key for anchors, introduced by the old one. Anchors of the old key still verify.',
    async run(invocation) {
      const rotated = await ask(invocation, 'journal.rotate_key');
      return {
        json: { kind: 'anchor_key_rotated', ...rotated },
        text: `Anchors are signed with the key ${rotated.key} from now on; ${rotated.previous} is gone.`,
      };
    },
  },
];
