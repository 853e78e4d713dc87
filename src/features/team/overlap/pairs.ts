import { TimeSlice } from '../../../kernel/time-slice.ts';
import type { Db } from '../../../storage/engine.ts';
import { matching, pageOf } from '../../../storage/rows.ts';
import type { OverlapItemRow } from '../../../storage/schema-rows.ts';
import { type CheckedWork, isCompared, isEscalatedPair, isOpen, RECENT_MS } from './detect.ts';
import type { Finder } from './finder.ts';
import { reasonFor } from './reason.ts';
import { readState, settingsOf, trustedItem } from './store.ts';
import { surfaces } from './terms.ts';

export interface Pair {
  readonly first: Pick<OverlapItemRow, 'id' | 'kind' | 'title' | 'owner_id' | 'status'>;
  readonly second: Pick<OverlapItemRow, 'id' | 'kind' | 'title' | 'owner_id' | 'status'>;
  readonly score: number;
  readonly reason: string;
}

interface Pairs {
  readonly pairs: Pair[];
  readonly compared: number;
  /** The number of older items that were not compared. */
  readonly leftOut: number;
}

/** The maximum number of items, because each is compared with all others. The oldest items are left out, and the reply reports their number. */
const MAX_COMPARED = 2_000;
const MAX_PER_ITEM = 10;
/** The time limit for comparing, which is much shorter than that of a call. Remaining items are left out, and the reply reports their number. */
const PATIENCE_MS = 10_000;

export interface Bounds {
  readonly limit?: number;
  readonly patienceMs?: number;
  /** Aborted when the caller no longer waits for the reply. */
  readonly signal?: AbortSignal;
}

/** Finds pairs of running or recently finished work that look the same. Pairs with open work come first, then those with a higher score. */
export async function likePairs(db: Db, workspace: string, finder: Finder, now: number, bounds: Bounds = {}): Promise<Pairs> {
  const { limit = MAX_COMPARED, patienceMs = PATIENCE_MS, signal } = bounds;
  const giveUp = performance.now() + patienceMs;
  await finder.prepare(workspace);
  const state = await readState(db, workspace);
  if (!state) return { pairs: [], compared: 0, leftOut: 0 };
  const settings = settingsOf(state);
  const candidates = matching(db, 'overlap_items', { workspace_id: workspace, status: ['active', 'blocked', 'completed'] })
    .where((eb) => eb.or([eb('closed_at', 'is', null), eb('closed_at', '>=', now - RECENT_MS)]))
    .selectAll()
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc');
  const { rows, total } = await pageOf(candidates, { limit, offset: 0 });
  const compared = new Map(rows.map((row) => [row.id, row]));
  const pairs: Pair[] = [];
  let done = 0;
  const slice = new TimeSlice();
  for (const row of compared.values()) {
    if (performance.now() > giveUp) break;
    signal?.throwIfAborted();
    await slice.pauseIfOver();
    done++;
    const subject = subjectOf(row);
    const found = await finder.search(db, state, trustedItem(row), {
      settings,
      limit: MAX_PER_ITEM,
      atLeast: settings.escalate,
      // Only items with a lower id are accepted, so that each pair is compared once.
      accept: (id, meta) => id < row.id && compared.has(id) && isCompared(subject, id, meta, now),
    });
    for (const scored of found) {
      const other = compared.get(scored.id) as OverlapItemRow;
      if (!isEscalatedPair(subject, other, scored, settings)) continue;
      const reason = reasonFor(scored, surfaces(`${row.title}\n${row.scope ?? ''}`));
      pairs.push({ first: other, second: row, score: Math.round(scored.score * 100) / 100, reason });
    }
  }
  pairs.sort((one, other) => openFirst(other) - openFirst(one) || other.score - one.score || (one.second.id < other.second.id ? 1 : -1));
  return { pairs, compared: done, leftOut: Math.max(0, total - done) };
}

/** Sorts pairs with open work first, because duplicate work that is already finished can no longer be prevented. */
const openFirst = ({ first, second }: Pair): number => (isOpen(first.status) || isOpen(second.status) ? 1 : 0);

const subjectOf = (row: OverlapItemRow): CheckedWork => ({
  kind: row.kind === 'workstream' ? 'workstream' : 'task',
  developerId: row.owner_id,
  title: row.title,
  scope: row.scope,
  description: null,
  action: row.action,
  component: row.component,
  taskType: row.task_type,
  files: [],
  repo: row.repo,
  plannedId: row.id,
});
