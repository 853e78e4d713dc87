import { record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { insertRows, newId } from '../../../storage/rows.ts';
import type { PreflightCheckRow, ScopeVerdictRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { OverlapMatch, ScopeVerdict } from './contract.ts';
import type { CheckedWork, Detection } from './detect.ts';
import { storeWarning } from './warnings.ts';

/** These limits keep event payloads small. If a payload is too large, the journal stores only a digest of it. */
const LISTED = 10;
const REASON_BYTES = 300;
const CONFIRMATION_BYTES = 2_000;
const listed = (matches: readonly OverlapMatch[]) => matches.slice(0, LISTED).map(({ id, score, level, status }) => ({ id, score, level, status }));

/** Stores the check. If the check found matches, a warning is stored too. */
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
