import { attestsCut, type ChainBreak, ChainVerifier, PRUNED } from './chain-verifier.ts';
import type { Db } from './engine.ts';
import { type ChainPoint, eventsAbout, readAnchor, readEvents, toEvent } from './journal.ts';
import type { Tx, WriteCallback } from './write.ts';

/**
 * A journal is pruned in two steps. The first step (the cut) is one transaction: it moves the journal's anchor to the last event to remove, and appends an
 * event that records the prune. From then on, the journal begins after the anchor. The second step deletes the rows up to the anchor, oldest first, in small
 * transactions so that other writers do not wait long. After a crash at any point, the journal still verifies, and the remaining rows are deleted later.
 * chain-verifier.ts defines the event (PRUNED) and when it matches an anchor (attestsCut).
 */

/** The subject of the events that record prunes. */
const JOURNAL_SUBJECT = 'journal';
const PAGE = 500;
/** How many rows one transaction deletes. All other writers of the workspace wait for that transaction. */
const REMOVED_AT_ONCE = 1_000;

/** Verifies the chain step by step, up to the last event that is older than `before`. */
export class PruneWalk {
  readonly anchor: ChainPoint;
  readonly before: number;
  readonly #verifier: ChainVerifier;
  #isDone = false;

  constructor(anchor: ChainPoint, before: number) {
    this.anchor = anchor;
    this.before = before;
    this.#verifier = new ChainVerifier(anchor);
  }

  get reached(): ChainPoint & { readonly firstBreak: ChainBreak | null } {
    return this.#verifier.reached;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Verifies one more page. Stops before `head`, because the newest event is never pruned. */
  async step(db: Db, workspace: string, head: number): Promise<void> {
    const { seq } = this.reached;
    const page = await readEvents(db, workspace, seq, Math.min(PAGE, Math.max(0, head - 1 - seq)));
    const stop = page.findIndex(({ time }) => time >= this.before);
    for (const event of stop < 0 ? page : page.slice(0, stop)) this.#verifier.add(event);
    // The last events of the journal are missing. This is a break, because a prune never deletes them.
    if (page.length === 0 && seq < head - 1) this.#verifier.finish({ seq: head, hash: '' });
    this.#isDone = page.length === 0 || stop >= 0 || this.reached.firstBreak !== null;
  }
}

/** Whether an event in the journal confirms that the events up to `anchor` were pruned. */
export async function isCutAttested(db: Db, workspace: string, anchor: ChainPoint): Promise<boolean> {
  if (anchor.seq === 0) return true;
  const rows = await eventsAbout(db, workspace, [JOURNAL_SUBJECT])
    .selectAll('events')
    .where('events.kind', '=', PRUNED)
    .where('events.seq', '>', anchor.seq)
    .execute();
  return rows.some((row) => attestsCut(toEvent(row), anchor));
}

/**
 * Makes the journal begin after the last verified event. Returns false if another process has pruned the journal in the meantime. The chain must then be
 * verified again.
 */
export async function cutJournal(tx: Tx, { anchor, reached: { seq, hash }, before }: PruneWalk, actor: string): Promise<boolean> {
  const { db, workspace } = tx;
  const standing = await readAnchor(db, workspace);
  const last = await db.selectFrom('events').select(['hash', 'time']).where('workspace_id', '=', workspace).where('seq', '=', seq).executeTakeFirst();
  if (standing.seq !== anchor.seq || last?.hash !== hash) return false;
  const row = { seq, hash, time: last.time };
  await db
    .insertInto('journal_anchors')
    .values({ workspace_id: workspace, ...row })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(row))
    .execute();
  tx.append({ category: 'audit', kind: PRUNED, actor, subject: JOURNAL_SUBJECT, payload: { through_seq: seq, root: hash, events: seq - anchor.seq, before } });
  return true;
}

/** The number of rows up to the anchor that are still to be deleted. */
export async function countBeforeAnchor(db: Db, workspace: string, { seq }: ChainPoint): Promise<number> {
  const oldest = await db.selectFrom('events').select('seq').where('workspace_id', '=', workspace).orderBy('seq').limit(1).executeTakeFirst();
  return oldest ? Math.max(0, seq - oldest.seq + 1) : 0;
}

/** Deletes some of the oldest rows up to the anchor. Returns how many were deleted. */
export const removeBatch = (write: <T>(callback: WriteCallback<T>) => Promise<T>): Promise<number> =>
  write(async ({ db, workspace }) => {
    const anchor = await readAnchor(db, workspace);
    const left = await countBeforeAnchor(db, workspace, anchor);
    if (left === 0) return 0;
    const some = Math.min(left, REMOVED_AT_ONCE);
    await db
      .deleteFrom('events')
      .where('workspace_id', '=', workspace)
      .where('seq', '<=', anchor.seq - left + some)
      .execute();
    return some;
  });
