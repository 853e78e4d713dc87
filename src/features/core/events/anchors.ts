import type { CallContext, Services } from '../../../kernel/call.ts';
import { ok, Refusal } from '../../../kernel/reply.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { type AnchorKeeper, AnchorMismatch } from '../../../storage/anchors/keeper.ts';
import type { ChainPoint } from '../../../storage/journal.ts';
import { findRows } from '../../../storage/rows.ts';
import { anchorJournal, rotateAnchorKey } from './contract.ts';

/** How often a journal with new events gets an anchor: at the latest after this many events or minutes. */
export interface AnchorPace {
  readonly every_events: number;
  readonly every_minutes: number;
}

const ANCHOR_EVERY_MS = 2_000;

export const anchorTools = (keeper: AnchorKeeper): Implementation[] => [
  implement(anchorJournal, {
    run: async (_input, { reader, workspace, clock }) => {
      const written = await refuseMismatch(keeper.anchor(reader, workspace, clock.now()));
      if (!written)
        throw new Refusal(
          'JOURNAL_EMPTY',
          'This workspace has no event yet, so there is nothing to anchor.',
          'Run `covenant audit anchor` again after the first event.',
        );
      const { record, publicKey, path } = written;
      return ok({ seq: record.seq, root: record.hash, time: record.at, path, public_key: publicKey, anchor: { ...record } });
    },
  }),
  implement(rotateAnchorKey, { run: async (_input, { clock }) => ok(keeper.rotate(clock.now())) }),
];

/** Anchors each journal separately: after a number of events, after a number of minutes with new events, and when the server stops. */
export function createAnchorSweep({ store, clock, log }: Services, keeper: AnchorKeeper, pace: AnchorPace): { sweep: Sweep; stop(): Promise<void> } {
  const begun = new Map<string, number>();
  const complaints = new Map<string, string>();
  let runs = false;

  async function anchorDue(isDue: (fresh: number, sinceMs: number) => boolean): Promise<void> {
    const now = clock.now();
    for (const { workspace_id, seq } of await findRows(store.reader, 'journal_heads', {})) {
      try {
        const last = await keeper.last(workspace_id);
        const since = last?.at ?? begun.get(workspace_id) ?? now;
        begun.set(workspace_id, since);
        // A journal that ends before its last anchor has no new events. It is counted as changed anyway, because `anchor` must report it.
        const fresh = Math.abs(Number(seq) - (last?.seq ?? 0));
        if (fresh > 0 && (last === undefined || isDue(fresh, now - since))) await keeper.anchor(store.reader, workspace_id, now);
        complaints.delete(workspace_id);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        // The same error is logged once and not every few seconds.
        if (complaints.get(workspace_id) !== why) log.error('journal not anchored', { workspace: workspace_id, error });
        complaints.set(workspace_id, why);
      }
    }
  }

  return {
    sweep: {
      name: 'anchors',
      everyMs: ANCHOR_EVERY_MS,
      async run() {
        runs = true;
        // A negative time means that the clock was set back. The journal is anchored then, because the elapsed time is unknown.
        await anchorDue((fresh, sinceMs) => fresh >= pace.every_events || sinceMs < 0 || sinceMs >= pace.every_minutes * 60_000);
      },
    },
    async stop() {
      if (!runs) return;
      runs = false;
      // An unreachable database must not prevent the server from stopping.
      await anchorDue(() => true).catch((error: unknown) => log.warn('journals not anchored at the end', { error }));
    },
  };
}

/** Signs the prune, and anchors the journal before and after it, so that nobody can forge a prune or the remaining journal. */
export const anchorAround = async <T>(
  keeper: AnchorKeeper,
  ctx: Pick<CallContext, 'reader' | 'workspace' | 'clock'>,
  end: ChainPoint,
  prune: () => Promise<T>,
): Promise<T> => {
  const [db, workspace, now] = [ctx.reader, ctx.workspace, ctx.clock.now()];
  await refuseMismatch(keeper.anchor(db, workspace, now));
  await keeper.pruning(db, workspace, end, now);
  const done = await prune();
  await refuseMismatch(keeper.anchor(db, workspace, now));
  return done;
};

async function refuseMismatch<T>(anchored: Promise<T>): Promise<T> {
  return await anchored.catch((error: unknown) => {
    if (!(error instanceof AnchorMismatch)) throw error;
    throw new Refusal(
      'JOURNAL_BROKEN',
      `No anchor was written: ${error.message}.`,
      'Run `covenant audit verify`. If you restored the database from a copy, stop the server and run `covenant audit anchor --after-restore`.',
    );
  });
}
