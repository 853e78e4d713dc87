import { z } from 'zod';
import { record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, insertRows, newId, readJson } from '../../../storage/rows.ts';
import type { OverlapWarningRow, PreflightCheckRow, ScopeVerdictRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { match, type OverlapMatch, type ScopeVerdict, type WarningStatus } from './contract.ts';
import type { CheckedWork, Detection } from './detect.ts';

/** Events stay small whatever was found and said: one that is too large would be replaced by its digest. */
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

/** A check serves for minutes; one that is out of date is told apart from none for so long, and no start reads further back. */
const LOOKED_BACK_MS = 24 * 3_600_000;

/**
 * The developer's latest check of work with this title. Tasks may share a title, so a check of a planned one must have named
 * it; a workstream is known by its title alone.
 */
export async function latestCheck(
  db: Db,
  workspace: string,
  subject: Pick<CheckedWork, 'kind' | 'developerId' | 'title' | 'plannedId'>,
  now: number,
): Promise<PreflightCheckRow | undefined> {
  const { kind, developerId, title, plannedId } = subject;
  const ofTask = kind === 'task' ? { planned_id: plannedId } : {};
  const since = { created_at: { '>': now - LOOKED_BACK_MS } };
  return await findRow(
    db,
    'preflight_checks',
    { workspace_id: workspace, developer_id: developerId, kind, title, ...ofTask, ...since },
    { created_at: 'desc', id: 'desc' },
  );
}

export const findWarning = (db: Db, workspace: string, id: string): Promise<OverlapWarningRow | undefined> =>
  findRow(db, 'overlap_warnings', { workspace_id: workspace, id });

/** The warning that was stored with the plan of this work, in the same moment, where it has not been resolved yet. */
export async function openPlanWarning(db: Db, workspace: string, subjectId: string): Promise<string | undefined> {
  return (await findRow(db, 'overlap_warnings', { workspace_id: workspace, subject_id: subjectId, check_id: null, resolved_at: null }))?.id;
}

/** Work that was planned and given up overlaps with nothing any more. */
export async function dropPlanWarning(tx: Tx, ctx: WriteContext, subjectId: string): Promise<void> {
  const id = await openPlanWarning(tx.db, tx.workspace, subjectId);
  if (id) await dismissAutomatically(tx, ctx, id, 'The planned work was cancelled.', {});
}

export async function dismissAutomatically(tx: Tx, ctx: WriteContext, id: string, reason: string, details: { started?: string }): Promise<void> {
  if (details.started !== undefined) await attachWarning(tx, id, details.started);
  // Whoever has dismissed it by hand has said why.
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

/** What a start brings along to answer the check before it. */
export interface StartAnswer {
  readonly check_id?: string | undefined;
  readonly scope_verdict?: ScopeVerdict | undefined;
  readonly warning_id?: string | undefined;
  readonly confirmation_reason?: string | undefined;
}

/** The latest check with the same title by the same developer, and what has become of its candidates. */
export interface CheckFacts {
  readonly id: string;
  readonly warningId: string | null;
  readonly age: number;
  readonly used: boolean;
  /** All that were escalated then. */
  readonly escalated: readonly string[];
  /** Those that are still open. Whatever the start says of itself now, they are what the check found. */
  readonly live: readonly OverlapMatch[];
  /** All that was found and open then has ended, also what was not escalated. */
  readonly isOver: boolean;
  /** Escalated now and not then: somebody started in the meantime. */
  readonly arrived: readonly OverlapMatch[];
}

export const CHECK_LASTS_MS = 10 * 60_000;

export type PassedStart =
  | { readonly passes: 'clear' | 'outlived' }
  | { readonly passes: 'judged'; readonly verdict: ScopeVerdict }
  | { readonly passes: 'confirmed'; readonly reason: string };
export interface BlockedStart {
  readonly blocked: string;
  readonly message: string;
  readonly next: string;
  readonly fields?: Record<string, unknown>;
}
type StartRuling = PassedStart | BlockedStart;

/** Whether work may start. The score only asks the question; the verdict answers it. */
export function ruleStart(check: CheckFacts | undefined, answer: StartAnswer, tool: string): StartRuling {
  const again = `Call ${tool.split(' ')[0]} with operation "check" and ${whatToCheck(tool)}, then start within 10 minutes.`;
  if (!check) return block('CHECK_REQUIRED', 'This work was not checked: there is no check of yours with this title.', again);
  if (check.used) return block('CHECK_REQUIRED', 'A check serves one start, and your latest one with this title has served.', again);
  if (check.age > CHECK_LASTS_MS) return block('CHECK_EXPIRED', 'The check is more than 10 minutes old.', again);
  if (answer.check_id !== undefined && answer.check_id !== check.id) {
    return block('CHECK_MISMATCH', 'check_id is not your latest check with this title.', `Send the check_id of your latest check, or check again. ${again}`);
  }
  if (check.arrived.length > 0) {
    return block(
      'NEW_OVERLAP',
      'There is work that looks the same and that your check did not bring up: it is newer, or your words have changed.',
      howToJudge(tool),
    );
  }
  if (check.isOver || (check.escalated.length > 0 && check.live.length === 0)) return { passes: 'outlived' };
  if (answer.warning_id !== undefined && answer.warning_id !== check.warningId) {
    return block('WARNING_MISMATCH', 'warning_id is not the warning of your latest check.', 'Send the warning_id of your latest check, or leave it out.');
  }
  if (check.live.length > 0) return ruleVerdict(check, answer, tool);
  if (answer.scope_verdict) return ruleNeedless(check, answer.scope_verdict);
  return ruleConfirmation(answer);
}

function ruleVerdict(check: CheckFacts, { check_id, scope_verdict: verdict, confirmation_reason }: StartAnswer, tool: string): StartRuling {
  if (check_id === undefined || !verdict) return block('VERDICT_REQUIRED', 'Possible duplicate work found.', howToJudge(tool));
  const judged = new Map(verdict.candidates.map((candidate) => [candidate.id, candidate]));
  const missing = check.live.filter(({ id }) => !judged.has(id)).map(({ id }) => id);
  if (missing.length > 0) {
    return block('VERDICT_INCOMPLETE', `The verdict leaves ${missing.join(', ')} unjudged.`, 'Judge every candidate: {id, same_scope, reason}.', { missing });
  }
  const unknown = verdict.candidates.map(({ id }) => id).filter((id) => !check.escalated.includes(id));
  if (unknown.length > 0) {
    return block('VERDICT_MISMATCH', `The check has no candidate ${unknown.join(', ')}.`, 'Judge the candidates of your latest check, by their ids.', {
      unknown,
    });
  }
  const same = verdict.candidates.filter(({ same_scope }) => same_scope).map(({ id }) => id);
  if (verdict.verdict === 'distinct' && same.length > 0) {
    return block(
      'VERDICT_INCONSISTENT',
      `The verdict is "distinct", yet ${same.join(', ')} is marked as the same scope.`,
      'Send "duplicate", or judge it distinct.',
      {
        same,
      },
    );
  }
  if (verdict.verdict === 'duplicate' && same.length === 0) {
    return block(
      'VERDICT_INCONSISTENT',
      'The verdict is "duplicate", yet no candidate is marked as the same scope.',
      'Mark the one that is with same_scope: true.',
    );
  }
  if (verdict.verdict === 'duplicate' && confirmation_reason === undefined) {
    return block(
      'CONFIRMATION_REASON_REQUIRED',
      'You judged this a duplicate.',
      'Do not start it, or ask the developer for confirmation and send their reason as confirmation_reason.',
    );
  }
  return { passes: 'judged', verdict };
}

/** A verdict where none was asked for still has to make sense, because it is stored. */
function ruleNeedless(check: CheckFacts, verdict: ScopeVerdict): StartRuling {
  const unknown = verdict.candidates.map(({ id }) => id).filter((id) => !check.escalated.includes(id));
  if (unknown.length === 0 && verdict.verdict === 'distinct') return { passes: 'clear' };
  return block('VERDICT_MISMATCH', 'Your latest check escalated no candidate, so there is nothing to judge.', 'Start without scope_verdict.', { unknown });
}

/** Warnings that need no verdict never block by themselves. */
function ruleConfirmation({ warning_id, confirmation_reason }: StartAnswer): StartRuling {
  if (warning_id === undefined) return { passes: 'clear' };
  if (confirmation_reason === undefined) {
    return block('CONFIRMATION_REASON_REQUIRED', 'A confirmation needs its reason.', 'Send confirmation_reason with warning_id, or leave both out.');
  }
  return { passes: 'confirmed', reason: confirmation_reason };
}

/** Tasks may share a title, so a planned one is named by its id as well. */
const whatToCheck = (tool: string): string => (tool === 'covibe_task start_planned' ? 'its title and planned_task_id' : 'the same title');

export const howToJudge = (tool: string): string =>
  `Compare your work with each candidate. Then call ${tool} with check_id and scope_verdict {verdict: "distinct" | "duplicate", candidates: [{id, same_scope, reason}]}; ` +
  'if it is a duplicate, ask the developer for confirmation and a reason before starting.';

const block = (blocked: string, message: string, next: string, fields?: Record<string, unknown>): StartRuling => ({
  blocked,
  message,
  next,
  ...(fields ? { fields } : {}),
});
