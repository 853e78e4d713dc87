import { setImmediate as turn } from 'node:timers/promises';
import type { Db } from '../../storage/engine.ts';
import { isCompared, isEscalatedPair, RECENT_MS, type Subject } from './candidates.ts';
import { reasonFor } from './explain.ts';
import type { Finder } from './finder.ts';
import { settingsOf } from './own-settings.ts';
import { trustedItem } from './stored.ts';
import type { OverlapItemRow } from './tables.ts';
import { surfaces } from './terms.ts';

export interface Pair {
  readonly first: Pick<OverlapItemRow, 'id' | 'kind' | 'title' | 'owner_id' | 'status'>;
  readonly second: Pick<OverlapItemRow, 'id' | 'kind' | 'title' | 'owner_id' | 'status'>;
  readonly score: number;
  readonly reason: string;
}

export interface Pairs {
  readonly pairs: Pair[];
  readonly compared: number;
  /** Older work that was not looked at. */
  readonly leftOut: number;
}

/** Each is compared with all: beyond this many, the oldest are left out, and that is said. */
const MOST_COMPARED = 2_000;
const MOST_PER_ITEM = 10;
const ITEMS_PER_TURN = 25;

/** Running and recently finished work that looks like the same work, best first. */
export async function likePairs(db: Db, workspace: string, finder: Finder, now: number, most = MOST_COMPARED): Promise<Pairs> {
  await finder.prepare(workspace);
  const settings = await settingsOf(db, workspace);
  const rows = await db
    .selectFrom('overlap_items')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('status', 'in', ['active', 'blocked', 'completed'])
    .where((eb) => eb.or([eb('closed_at', 'is', null), eb('closed_at', '>=', now - RECENT_MS)]))
    .orderBy('updated_at', 'desc')
    .limit(most + 1_000)
    .execute();
  const compared = new Map(rows.slice(0, most).map((row) => [row.id, row]));
  const pairs: Pair[] = [];
  let done = 0;
  for (const row of compared.values()) {
    // A large workspace takes seconds: other calls must get their turns in between.
    if (++done % ITEMS_PER_TURN === 0) await turn();
    const subject = subjectOf(row);
    const found = await finder.search(db, workspace, trustedItem(row), {
      settings,
      limit: MOST_PER_ITEM,
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
  pairs.sort((one, other) => other.score - one.score || (one.second.id < other.second.id ? 1 : -1));
  return { pairs, compared: compared.size, leftOut: Math.max(0, rows.length - most) };
}

const subjectOf = (row: OverlapItemRow): Subject => ({
  kind: row.kind === 'workstream' ? 'workstream' : 'task',
  developerId: row.owner_id,
  title: row.title,
  scope: row.scope,
  description: null,
  action: row.action,
  component: row.component,
  files: [],
  repo: row.repo,
  plannedId: row.id,
});
