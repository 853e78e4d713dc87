import { z } from 'zod';
import { record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, insertRows, newId, readJson } from '../../../storage/rows.ts';
import type { OverlapWarningRow, PreflightCheckRow, ScopeVerdictRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { match, type OverlapMatch, type ScopeVerdict, type WarningStatus } from './contract.ts';
import type { CheckedWork, Detection } from './detect.ts';

/** Bounds the events: one that is too large would be replaced by its digest. */
const LISTED = 10;
const REASON_BYTES = 300;
const CONFIRMATION_BYTES = 2_000;
const listed = (matches: readonly OverlapMatch[]) => matches.slice(0, LISTED).map(({ id, score, level, status }) => ({ id, score, level, status }));

/** Stores the check, and its warning where anything was found. */
export async function storeCheck(tx: Tx, ctx: WriteContext, subject: CheckedWork, detection: Detection) {
  const checkId = newId('chk', tx.now);
  const warning = await storeWarning(tx, subject, detection, { checkId, subjectId: subject.plannedId });
  const check: PreflightCheckRow = {
    workspace_id: tx.workspace,
    id: checkId,
    kind: subject.kind,
    developer_id: subject.developerId,
    title: subject.title,
    planned_id: subject.plannedId,
    warning_id: warning?.id ?? null,
    candidates: JSON.stringify(detection.escalated.map(({ id }) => id)),
    created_at: tx.now,
    used_at: null,
  };
  await insertRows(tx.db, 'preflight_checks', check);
  record(tx, ctx, {
    category: 'work',
    kind: `${subject.kind}.checked`,
    subject: subject.plannedId ?? checkId,
    payload: {
      check_id: checkId,
      title: subject.title,
      warning_id: check.warning_id,
      requires_verdict: detection.escalated.length > 0,
      matches: listed(detection.matches),
    },
  });
  return { check, warning };
}

/** A warning for work that overlaps; null where nothing does. */
export async function storeWarning(
  tx: Tx,
  subject: CheckedWork,
  detection: Detection,
  about: { checkId: string | null; subjectId: string | null },
): Promise<OverlapWarningRow | null> {
  if (detection.matches.length === 0) return null;
  const warning: OverlapWarningRow = {
    workspace_id: tx.workspace,
    id: newId('warn', tx.now),
    developer_id: subject.developerId,
    kind: subject.kind,
    title: subject.title,
    subject_id: about.subjectId,
    check_id: about.checkId,
    level: detection.escalated.length > 0 ? 'escalated' : 'warn',
    matches: JSON.stringify(detection.matches),
    status: 'open',
    reason: null,
    created_at: tx.now,
    resolved_at: null,
  };
  await insertRows(tx.db, 'overlap_warnings', warning);
  return warning;
}

export const findWarning = (db: Db, workspace: string, id: string): Promise<OverlapWarningRow | undefined> =>
  findRow(db, 'overlap_warnings', { workspace_id: workspace, id });

export async function dismissAutomatically(tx: Tx, ctx: WriteContext, id: string, reason: string, details: { started?: string }): Promise<void> {
  if (details.started !== undefined) await attachWarning(tx, id, details.started);
  // It was dismissed by hand, with a reason of its own.
  if ((await findWarning(tx.db, tx.workspace, id))?.resolved_at !== null) return;
  await resolveWarning(tx, id, { status: 'dismissed', reason });
  record(tx, ctx, { category: 'work', kind: 'warning.dismissed', subject: id, payload: { ...details, automatic: true, reason } });
}

/** Somebody goes on in spite of it, and says why. */
export async function confirmWarning(tx: Tx, ctx: WriteContext, id: string, reason: string, work: { started: string } | { planned: string }): Promise<void> {
  await resolveWarning(tx, id, { status: 'confirmed', reason, subjectId: 'started' in work ? work.started : work.planned });
  record(tx, ctx, { category: 'work', kind: 'warning.confirmed', subject: id, payload: { ...work, reason } });
}

const matchList = z.array(match);
export const readMatches = (warning: OverlapWarningRow): OverlapMatch[] => readJson(matchList, warning.matches);

export async function resolveWarning(
  tx: Tx,
  id: string,
  outcome: { status: Exclude<WarningStatus, 'open'>; reason: string | null; subjectId?: string },
): Promise<void> {
  const { status, reason, subjectId } = outcome;
  const attached = subjectId === undefined ? {} : { subject_id: subjectId };
  await changeRows(tx.db, 'overlap_warnings', { workspace_id: tx.workspace, id }, { status, reason, resolved_at: tx.now, ...attached });
}

export const attachWarning = (tx: Tx, id: string, subjectId: string) =>
  changeRows(tx.db, 'overlap_warnings', { workspace_id: tx.workspace, id }, { subject_id: subjectId });

export async function storeVerdict(
  tx: Tx,
  ctx: WriteContext,
  given: { check: PreflightCheckRow; verdict: ScopeVerdict; reason: string | undefined; subjectId: string },
): Promise<void> {
  const { check, verdict, reason, subjectId } = given;
  const row: ScopeVerdictRow = {
    workspace_id: tx.workspace,
    id: newId('vrd', tx.now),
    check_id: check.id,
    warning_id: check.warning_id,
    developer_id: check.developer_id,
    subject_id: subjectId,
    verdict: verdict.verdict,
    candidates: JSON.stringify(verdict.candidates),
    confirmation_reason: reason ?? null,
    created_at: tx.now,
  };
  await insertRows(tx.db, 'scope_verdicts', row);
  record(tx, ctx, {
    category: 'work',
    kind: 'scope.judged',
    subject: subjectId,
    payload: {
      check_id: check.id,
      warning_id: check.warning_id,
      verdict: verdict.verdict,
      duplicate: verdict.verdict === 'duplicate',
      candidates: verdict.candidates.slice(0, LISTED).map((judged) => ({ ...judged, reason: excerpt(judged.reason, REASON_BYTES) })),
      confirmation_reason: reason === undefined ? null : excerpt(reason, CONFIRMATION_BYTES),
    },
  });
}
