import { z } from 'zod';
import { record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { ok, type Reply, refused } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRows, insertRows, newId, readJson } from '../../../storage/rows.ts';
import type { ParallelAuditRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper, type Viewer, viewerOf } from '../../core/identity/index.ts';
import { isOpen, itemsById, type likePairs, type Pair } from '../overlap/index.ts';
import type { AuditConflict, TeamState } from './contract.ts';

export type ComparedPairs = Awaited<ReturnType<typeof likePairs>>;

type AuditReply = { audit_id: string; compared: number; left_out: number; conflicts: AuditConflict[] };

/** At most this many conflicts are shown and stored, because a batch of similar tasks can cause thousands. */
const MAX_CONFLICTS = 50;

/** The number of conflicts in the event of an audit, so that the event fits into the payload limit. */
const DETAILED = 10;
const TITLE_BYTES = 120;
const REASON_BYTES = 200;

export async function storeAudit(tx: Tx, ctx: WriteContext, { pairs, compared, leftOut }: ComparedPairs): Promise<Reply<AuditReply>> {
  const developerId = callingDeveloper(ctx.principal);
  const id = newId('audit', tx.now);
  const audit = { workspace_id: tx.workspace, id, developer_id: developerId, compared, conflicts: conflictsJson(pairs), created_at: tx.now };
  await insertRows(tx.db, 'parallel_audits', audit);
  record(tx, ctx, {
    category: 'work',
    kind: 'parallel_work.audit',
    subject: id,
    payload: {
      compared,
      left_out: leftOut,
      conflict_count: pairs.length,
      conflicts: pairs.slice(0, DETAILED).map(({ first, second, score, reason }) => ({
        first: { id: first.id, title: excerpt(first.title, TITLE_BYTES), status: first.status },
        second: { id: second.id, title: excerpt(second.title, TITLE_BYTES), status: second.status },
        score,
        reason: excerpt(reason, REASON_BYTES),
      })),
    },
  });
  const viewer = await viewerOf(tx.db, ctx.principal);
  const conflicts = pairs.map((pair) => conflictView(pair, viewer));
  const data = { audit_id: id, compared, left_out: leftOut, conflicts: conflicts.slice(0, MAX_CONFLICTS) };
  const unsettled = conflicts.filter(({ kind }) => kind !== 'historical').length;
  if (unsettled === 0) return ok(data, `Compared ${compared} tasks and workstreams. No active work looks like other work.`);
  const cut = unsettled > MAX_CONFLICTS ? ` The ${MAX_CONFLICTS} most similar are listed.` : '';
  return refused(
    'warning',
    'PARALLEL_WORK',
    `${unsettled} ${unsettled === 1 ? 'pair of work looks' : 'pairs of work look'} the same.${cut}`,
    settleNext('conflicts'),
    data,
  );
}

/** The next step for pairs of work that look the same. `list` is the name of the field of `data` that contains the pairs. */
export const settleNext = (list: 'conflicts' | 'parallel_audit_conflicts'): string =>
  `For each entry of \`data.${list}\` whose \`kind\` is not "historical", ask the other \`owner\` which work continues: covibe_coordination with operation "ask", to and a message. ` +
  'If both are yours or the other owner is private, ask your user. The owner of the open work that stops calls covibe_task with operation "complete", task_id and ' +
  'result_summary, or "cancel", task_id and reason; for a workstream, covibe_workstream with operation "complete", workstream_id and result_summary.';

/** What is stored of a conflict. Owners and states are not stored, because they can change; they are looked up for display. */
const storedConflicts = z.array(z.strictObject({ first: z.string(), second: z.string(), score: z.number(), reason: z.string() }));

const LISTED = 5;

const conflictsJson = (pairs: readonly Pair[]): string =>
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

/** The conflicts of the latest audit with the current state of the work, because running work may be finished by now. */
export async function currentConflicts(db: Db, workspace: string, viewer: Viewer): Promise<AuditConflict[]> {
  const [latest] = await auditRows(db, workspace, 1);
  if (!latest) return [];
  const conflicts = readJson(storedConflicts, latest.conflicts);
  const ids = conflicts.flatMap(({ first, second }) => [first, second]);
  const items = await itemsById(db, workspace, ids);
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
