import type { House } from '../../../kernel/context.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import { leftBefore, removeSome } from '../../../storage/journal-prune.ts';

const EVERY_MS = 600_000;

/** Removes what a prune that was broken off has cut and left behind. */
export function removingCut({ store }: Pick<House, 'store'>): Sweep {
  return {
    name: 'journal',
    everyMs: EVERY_MS,
    async run() {
      for (const { workspace_id, ...anchor } of await store.reader.selectFrom('journal_anchors').selectAll().execute()) {
        if ((await leftBefore(store.reader, workspace_id, anchor)) === 0) continue;
        while ((await removeSome((callback) => store.write(workspace_id, callback))) > 0);
      }
    },
  };
}
