import { z } from 'zod';
import type { Db } from '../../../storage/engine.ts';
import { findRows, readJson } from '../../../storage/rows.ts';
import type { ParallelAuditRow } from '../../../storage/schema-rows.ts';
import type { Viewer } from '../../core/identity/index.ts';
import { isOpen, itemsById, type Pair } from '../overlap/index.ts';
import type { AuditConflict, TeamState } from './contract.ts';

/** What an audit stores of a conflict: who and in which state is looked up when it is shown. */
const storedConflicts = z.array(z.strictObject({ first: z.string(), second: z.string(), score: z.number(), reason: z.string() }));

const LISTED = 5;
/** So many are told and stored; a batch of tasks cut from one cloth makes thousands. */
export const MAX_CONFLICTS = 50;

export const stored = (pairs: readonly Pair[]): string =>
  JSON.stringify(pairs.slice(0, MAX_CONFLICTS).map(({ first, second, score, reason }) => ({ first: first.id, second: second.id, score, reason })));

const auditRows = (db: Db, workspace: string, limit: number): Promise<ParallelAuditRow[]> =>
  findRows(db, 'parallel_audits', { workspace_id: workspace }, { order: { id: 'desc' }, limit });

export async function latestAudits(db: Db, workspace: string, viewer: Viewer): Promise<TeamState['latest_parallel_audits']> {
  return (await auditRows(db, workspace, LISTED)).map((row) => ({
    audit_id: row.id,
    developer: viewer.name(row.developer_id),
    compared: row.compared,
    conflicts: readJson(storedConflicts, row.conflicts).length,
    created_at: row.created_at,
  }));
}

/** The conflicts of the latest audit, as they stand now: what was running may be finished since. */
export async function standingConflicts(db: Db, workspace: string, viewer: Viewer): Promise<AuditConflict[]> {
  const [latest] = await auditRows(db, workspace, 1);
  if (!latest) return [];
  const conflicts = readJson(storedConflicts, latest.conflicts);
  const items = await itemsById(
    db,
    workspace,
    conflicts.flatMap(({ first, second }) => [first, second]),
  );
  return conflicts.flatMap(({ first, second, score, reason }) => {
    const [one, other] = [items.get(first), items.get(second)];
    if (!one || !other || one.status === 'cancelled' || other.status === 'cancelled') return [];
    return [conflictView({ first: one, second: other, score, reason }, viewer)];
  });
}

export function conflictView({ first, second, score, reason }: Pair, viewer: Viewer): AuditConflict {
  const running = [first, second].filter(({ status }) => isOpen(status)).length;
  const side = ({ id, kind, title, owner_id, status }: Pair['first']) => ({ id, type: kind, title, owner: viewer.name(owner_id), status });
  return { kind: running === 2 ? 'running' : running === 1 ? 'repeats_completed' : 'historical', first: side(first), second: side(second), score, reason };
}
