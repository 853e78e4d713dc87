import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
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
  /** Older work that was not looked at. */
  readonly leftOut: number;
}

/** Each is compared with all: beyond this many, the oldest are left out, and that is said. */
const MAX_COMPARED = 2_000;
const MAX_PER_ITEM = 10;
const TURN_MS = 20;
/** Well within the time that a call has: what could not be looked at by then is left out, and that is said too. */
const PATIENCE_MS = 10_000;

export interface Bounds {
  readonly limit?: number;
  readonly patienceMs?: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** Running and recently finished work that looks like the same work: what somebody is at first, then the best. */
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
  let turned = performance.now();
  for (const row of compared.values()) {
    if (performance.now() > giveUp) break;
    signal?.throwIfAborted();
    // A large workspace takes seconds: other calls must get their turns in between.
    if (performance.now() - turned > TURN_MS) {
      await yieldToEventLoop();
      turned = performance.now();
    }
    done++;
    const subject = subjectOf(row);
    const found = await finder.search(db, state, trustedItem(row), {
      settings,
      limit: MAX_PER_ITEM,
      atLeast: settings.escalate,
      // Each pair once.
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

/** What is over twice can no longer be prevented: it must not crowd out what can. */
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
