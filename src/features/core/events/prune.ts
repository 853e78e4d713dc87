import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { CallContext, Services } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { ok, Refusal } from '../../../kernel/reply.ts';
import { inEachWorkspace, type Sweep } from '../../../kernel/sweep.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { AnchorKeeper } from '../../../storage/anchors/keeper.ts';
import { unattestedCut } from '../../../storage/chain-verifier.ts';
import type { Db } from '../../../storage/engine.ts';
import { type ChainPoint, readAnchor, readHead } from '../../../storage/journal.ts';
import { countBeforeAnchor, cutJournal, isCutAttested, PruneWalk, removeBatch } from '../../../storage/journal-prune.ts';
import { findRows } from '../../../storage/rows.ts';
import { anchorAround } from './anchors.ts';
import { pruneJournal } from './contract.ts';

const DAY_MS = 24 * 3_600_000;
/** The maximum number of events that one call verifies and removes, so that the call finishes in time. */
const VERIFIED_A_CALL = 100_000;
const REMOVED_A_CALL = 50_000;

/** Returns why other data still needs the old events of a workspace, and the next step to change that. Returns null if nothing needs them. */
export type PruneHold = (db: Db, workspace: string) => Promise<{ readonly why: string; readonly next: string } | null>;

type Pruned = Output<typeof pruneJournal>;

export function pruneTools(hold: PruneHold, keeper: AnchorKeeper): Implementation[] {
  /** Verification progress of each workspace between the calls of one prune. A prune that continues in another process starts over. */
  const walks = new Map<string, PruneWalk>();
  return [implement(pruneJournal, { run: async (input, ctx) => ok(await prune(input, ctx)) })];

  async function prune({ dry_run = false, ...input }: Input<typeof pruneJournal>, ctx: CallContext): Promise<Pruned> {
    const { reader, workspace } = ctx;
    const before = Math.min(input.before ?? Number.POSITIVE_INFINITY, ctx.clock.now() - (input.keep_days ?? 0) * DAY_MS);
    const held = await hold(reader, workspace);
    if (held) throw new Refusal('JOURNAL_NEEDED', `${held.why} Nothing was deleted.`, held.next);
    const walk = await verify(ctx, before);
    const pruned = walk.reached.seq - walk.anchor.seq;
    const report = async (stage: Pruned['stage'], count: number): Promise<Pruned> => {
      const anchor = await readAnchor(reader, workspace);
      const { seq, hash } = anchor;
      return {
        stage,
        before,
        anchor: { seq, hash },
        verified_to: walk.reached.seq,
        pruned: count,
        remaining: await countBeforeAnchor(reader, workspace, anchor),
      };
    };
    if (!walk.isDone) return await report('verifying', 0);
    if (dry_run) return await report('done', pruned);
    walks.delete(workspace);
    const cutHere = () => anchorAround(keeper, ctx, walk.reached, () => ctx.write((tx) => cutJournal(tx, walk, ctx.principal.actor)));
    if (pruned > 0 && !(await cutHere())) return await report('verifying', 0);
    for (let removed = 0; removed < REMOVED_A_CALL && !ctx.signal.aborted; ) {
      const batch = await removeBatch(ctx.write);
      if (batch === 0) return await report('done', pruned);
      removed += batch;
    }
    return await report('removing', pruned);
  }

  /** Continues the verification where this process stopped, for as many events as one call has time for. */
  async function verify({ reader, workspace, signal }: CallContext, before: number): Promise<PruneWalk> {
    const anchor = await readAnchor(reader, workspace);
    if (!(await isCutAttested(reader, workspace, anchor))) throw chainBroken(unattestedCut(anchor));
    const known = walks.get(workspace);
    const walk = known?.anchor.seq === anchor.seq && known.before === before ? known : new PruneWalk(anchor, before);
    // Only one call may continue a verification. Two calls would check the same events twice and report a break of the chain.
    walks.delete(workspace);
    const head = (await readHead(reader, workspace))?.seq ?? 0;
    const most = walk.reached.seq + VERIFIED_A_CALL;
    while (!walk.isDone && walk.reached.seq < most && !signal.aborted) {
      await walk.step(reader, workspace, head);
      // Hashing blocks this thread, so other calls run between the pages.
      await yieldToEventLoop();
    }
    const { firstBreak } = walk.reached;
    if (firstBreak) throw chainBroken(firstBreak);
    walks.set(workspace, walk);
    return walk;
  }
}

const chainBroken = ({ seq, reason }: { seq: number; reason: string }): Refusal =>
  new Refusal(
    'CHAIN_BROKEN',
    `The chain breaks at event ${seq}: ${reason}. Nothing was deleted.`,
    'Run `covenant backup`, then `covenant audit verify --anchor FILE` with your last exported anchor.',
    { seq },
  );

const REMOVE_EVERY_MS = 600_000;

/** Deletes the events that an interrupted prune has cut off from the journal but not deleted yet. */
export function createLeftoverSweep({ store, log }: Pick<Services, 'store' | 'log'>): Sweep {
  const name = 'journal';
  return {
    name,
    everyMs: REMOVE_EVERY_MS,
    async run() {
      const anchors = new Map((await findRows(store.reader, 'journal_anchors', {})).map(({ workspace_id, ...anchor }) => [workspace_id, anchor]));
      await inEachWorkspace(log, name, [...anchors.keys()], async (workspace) => {
        if ((await countBeforeAnchor(store.reader, workspace, anchors.get(workspace) as ChainPoint)) === 0) return;
        while ((await removeBatch((callback) => store.write(workspace, callback))) > 0);
      });
    },
  };
}
