import type { Principal, Services } from '../../../kernel/call.ts';
import type { JournalQuota } from '../../../kernel/ports.ts';
import { type Refused, refused } from '../../../kernel/reply.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { deleteRows, findRow } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';

const DAY_MS = 24 * 3_600_000;
const FLUSH_MS = 5_000;

/** The number of events that one token added to the journal in one day, as this process knows it. */
interface Growth {
  readonly workspace: string;
  readonly tokenId: string;
  readonly day: string;
  /** The total that all servers together had stored at the last sync. */
  stored: number;
  /** The number of events that this server has added since then. */
  added: number;
}

const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10);

/**
 * Limits what the calls of one token may add to the journal in a day. Each server counts in memory and syncs with the other
 * servers every few seconds. So a token can exceed its quota between two syncs, but no call needs an extra database statement.
 */
export function createJournalQuota({ store, clock, log }: Services, mostEvents: number): { quota: JournalQuota; feature: Feature } {
  const known = new Map<string, Growth>();
  const loading = new Map<string, Promise<Growth>>();
  const keyOf = ({ workspace, tokenId }: Principal, day: string) => `${workspace} ${tokenId} ${day}`;

  const load = async ({ workspace, tokenId }: Principal, day: string, key: string): Promise<Growth> => {
    const row = await findRow(store.reader, 'journal_growth', { workspace_id: workspace, token_id: tokenId, day });
    const growth = { workspace, tokenId, day, stored: Number(row?.events ?? 0), added: 0 };
    known.set(key, growth);
    return growth;
  };

  const growthOf = (principal: Principal): Growth | Promise<Growth> => {
    const day = dayOf(clock.now());
    const key = keyOf(principal, day);
    const cached = known.get(key) ?? loading.get(key);
    if (cached) return cached;
    const reading = load(principal, day, key).finally(() => loading.delete(key));
    loading.set(key, reading);
    return reading;
  };

  const refusalBeyondQuota = ({ stored, added }: Growth): Refused | undefined => {
    if (stored + added < mostEvents) return undefined;
    const seconds = Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1_000);
    return refused(
      'error',
      'JOURNAL_QUOTA_EXCEEDED',
      `This token has reached its journal quota of ${mostEvents} events for today.`,
      'Finish or hand off your work: heartbeats, releases, completions, checkpoints and hand-offs still work. Repeat other calls after 00:00 UTC. The operator can raise `journal_events_per_day` under `[limits]` in config.toml and restart the server.',
      { quota: mostEvents, retry_after: seconds },
    );
  };

  async function saveGrowth(tx: Tx, growths: readonly Growth[]): Promise<number[]> {
    await deleteRows(tx.db, 'journal_growth', { workspace_id: tx.workspace, day: { '<': dayOf(tx.now - DAY_MS) } });
    const totals: number[] = [];
    for (const { workspace, tokenId, day, added } of growths) {
      const { events } = await tx.db
        .insertInto('journal_growth')
        .values({ workspace_id: workspace, token_id: tokenId, day, events: added })
        .onConflict((conflict) =>
          conflict.columns(['workspace_id', 'token_id', 'day']).doUpdateSet((eb) => ({ events: eb('journal_growth.events', '+', added) })),
        )
        .returning('events')
        .executeTakeFirstOrThrow();
      totals.push(Number(events));
    }
    return totals;
  }

  async function flush(): Promise<void> {
    const today = dayOf(clock.now());
    const grown = [...known.values()].filter(({ added }) => added > 0);
    for (const [workspace, growths] of Map.groupBy(grown, (growth) => growth.workspace)) {
      const sent = growths.map((growth) => ({ ...growth }));
      const totals = await store.write(workspace, (tx) => saveGrowth(tx, sent));
      for (const [index, growth] of growths.entries()) {
        growth.stored = totals[index] as number;
        growth.added -= (sent[index] as Growth).added;
      }
    }
    for (const [key, { day, added }] of known) if (day !== today && added === 0) known.delete(key);
  }

  return {
    quota: {
      exceeded(principal) {
        const growth = growthOf(principal);
        return growth instanceof Promise ? growth.then(refusalBeyondQuota) : refusalBeyondQuota(growth);
      },
      grew(principal, events) {
        const growth = growthOf(principal);
        if (growth instanceof Promise) growth.then((loaded) => (loaded.added += events)).catch((error) => log.warn('journal growth not counted', { error }));
        else growth.added += events;
      },
    },
    feature: {
      name: 'quota',
      implementations: [],
      sweeps: [{ name: 'journal quota', everyMs: FLUSH_MS, run: flush }],
      keeps: [{ what: 'Journal growth of each token', ms: 2 * DAY_MS }],
      stop: flush,
    },
  };
}
