import { attestsCut, type ChainBreak, ChainVerifier, PRUNED } from './chain-verifier.ts';
import type { Db } from './engine.ts';
import { type ChainPoint, eventsAbout, readAnchor, readEvents, toEvent } from './journal.ts';
import type { Tx, WriteCallback } from './write.ts';

/**
 * A journal is pruned in two steps. The cut is one transaction: the anchor moves to the last event that goes, and the chain says so in
 * an event of its own; from then on the journal begins behind the anchor. What stands before it is then removed, oldest first, in small
 * transactions, so that nobody waits long. A crash between any two of them leaves a journal that verifies, and rows that are removed later.
 * What the event of a cut says, and when it fits an anchor, is in chain-verifier.ts (PRUNED, attests).
 */

/** The subject of the events about cuts, by which they are found. */
const JOURNAL_SUBJECT = 'journal';
const PAGE = 500;
/** Rows that one transaction deletes: every other writer of the workspace waits for it. */
const REMOVED_AT_ONCE = 1_000;

/** Goes through a chain for as long as its events are older than `before`; whoever goes on later begins where it stopped. */
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

  /** One page further. The newest event, `head`, is never among those that may go. */
  async step(db: Db, workspace: string, head: number): Promise<void> {
    const { seq } = this.reached;
    const page = await readEvents(db, workspace, seq, Math.min(PAGE, Math.max(0, head - 1 - seq)));
    const stop = page.findIndex(({ time }) => time >= this.before);
    for (const event of stop < 0 ? page : page.slice(0, stop)) this.#verifier.add(event);
    // A tail that is missing was not deleted by us.
    if (page.length === 0 && seq < head - 1) this.#verifier.finish({ seq: head, hash: '' });
    this.#isDone = page.length === 0 || stop >= 0 || this.reached.firstBreak !== null;
  }
}

/** Whether the chain itself says that it was cut there. */
export async function isCutAttested(db: Db, workspace: string, anchor: ChainPoint): Promise<boolean> {
  if (anchor.seq === 0) return true;
  const rows = await eventsAbout(db, workspace, [JOURNAL_SUBJECT])
    .selectAll('events')
    .where('events.kind', '=', PRUNED)
    .where('events.seq', '>', anchor.seq)
    .execute();
  return rows.some((row) => attestsCut(toEvent(row), anchor));
}

/** Cuts at an event that was verified from the anchor on. False: another has pruned meanwhile, and it must be looked at anew. */
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

/** How many events stand before the anchor still. */
export async function countBeforeAnchor(db: Db, workspace: string, { seq }: ChainPoint): Promise<number> {
  const oldest = await db.selectFrom('events').select('seq').where('workspace_id', '=', workspace).orderBy('seq').limit(1).executeTakeFirst();
  return oldest ? Math.max(0, seq - oldest.seq + 1) : 0;
}

/** Removes the oldest of what stands before the anchor; how many. */
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
