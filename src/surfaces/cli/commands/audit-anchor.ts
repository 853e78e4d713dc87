import type { anchorJournal, rotateAnchorKey } from '../../../features/events/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type Command, type Invocation, type Result } from '../command.ts';

const ask = asking<{ 'journal.anchor': Output<typeof anchorJournal>; 'journal.rotate_key': Output<typeof rotateAnchorKey> }>();

/** Written by the server, so that one process has the file. */
export async function writeAnchor(invocation: Invocation): Promise<Result> {
  const anchored = await ask(invocation, 'journal.anchor', invocation.values['after-restore'] === true ? { after_restore: true } : {});
  return { json: { kind: 'audit_anchor', ...anchored }, text: `${anchored.seq} ${anchored.root}` };
}

export const anchorCommands: readonly Command[] = [
  {
    name: 'audit anchor',
    summary:
      'Write a signed anchor of the journal now, and print it: keep it where nobody who can write this home can reach it. --after-restore: the database was put back by pg_restore or by hand.',
    options: { 'after-restore': { type: 'boolean' } },
    run: writeAnchor,
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
