import { z } from 'zod';
import { type CallContext, record, type WriteContext } from '../../../kernel/call.ts';
import { type Refused, type Reply, refused } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, readJson } from '../../../storage/rows.ts';
import type { PreflightCheckRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { storeCheck, storeVerdict } from './checks.ts';
import type { FileConflict, ItemStatus, OverlapMatch } from './contract.ts';
import { type CheckedWork, type Detection, detect, isOpen, shownTo } from './detect.ts';
import type { EmbeddedQuery, QueryEmbedder } from './embedder.ts';
import type { Finder } from './finder.ts';
import { type CheckResult, checkReply, type PlannedWork } from './preflight-replies.ts';
import { type BlockedStart, type CheckFacts, howToJudge, idsOf, type PassedStart, ruleStart, type StartAnswer, type StartCall } from './start-rules.ts';
import { fileConflicts, findItems, indexItem, markFiles, setItemStatus } from './store.ts';
import type { TaskText } from './terms.ts';
import { attachWarning, confirmWarning, dismissAutomatically, findWarning, readMatches, resolveWarning, storeWarning } from './warnings.ts';

/** The embedding of the checked work. It is computed before the transaction in which the work is compared. */
export type Prepared = EmbeddedQuery;

/** Whether a person confirmed a plan that looks like other work, and the reason that they gave. */
export interface Confirmation {
  readonly confirmed: boolean;
  readonly reason?: string | undefined;
}

/** Used for agents. Only people must confirm a plan. */
export const UNASKED: Confirmation = { confirmed: true };

/** The result of a successful start: the work, the warning of its check, and those of its files that others are also working on. */
export interface StartedWork<W> {
  readonly work: W;
  readonly warningId: string | null;
  readonly conflicts: FileConflict[];
}

/** The calls that check and start this work. Planned work is started with another operation than new work. */
const callsFor = ({ kind, plannedId, title, taskType }: CheckedWork): StartCall => {
  const type = taskType === null ? '' : `, task_type "${taskType}"`;
  const planned = plannedId !== null && kind === 'task' ? `, planned_task_id "${plannedId}"` : '';
  const same = kind === 'task' ? 'the same title and task_type' : 'the same title';
  return {
    check: `covibe_${kind} with operation "check", title ${JSON.stringify(title)}${type}${planned}`,
    start: `covibe_${kind} with operation ${plannedId === null ? `"start", ${same}` : `"start_planned", planned_${kind}_id "${plannedId}"`}`,
  };
};

/** Compares work with other work in every check, plan and start. Used for tasks and workstreams, and for agents and people. */
export class Preflight {
  readonly #finder: Finder;
  readonly #embedder: QueryEmbedder | null;

  constructor(finder: Finder, embedder: QueryEmbedder | null) {
    this.#finder = finder;
    this.#embedder = embedder;
  }

  /** Asks the model for a vector and updates the index in memory. Both are slow, so this must run before the write transaction. */
  async prepare(ctx: Pick<CallContext, 'workspace'>, text: TaskText): Promise<Prepared> {
    const [asked] = await Promise.all([this.#embedder?.ask(text), this.#finder.prepare(ctx.workspace)]);
    return asked ?? { vector: undefined, embedder: 'off' };
  }

  async #detect(tx: Tx, subject: CheckedWork, prepared: Prepared): Promise<Detection> {
    return await detect(tx.db, tx.workspace, subject, { finder: this.#finder, vector: prepared.vector, now: tx.now });
  }

  async check(tx: Tx, ctx: WriteContext, subject: CheckedWork, prepared: Prepared): Promise<Reply<CheckResult>> {
    return checkReply(await this.#recordCheck(tx, ctx, subject, prepared, await this.#detect(tx, subject, prepared)), callsFor(subject));
  }

  /**
   * Stores planned work, and a warning if the work looks like other work. If the check escalates candidates and the plan is not confirmed,
   * nothing is stored: `add`, which stores the work, is not called, and the result lists the candidates.
   */
  async plan(
    tx: Tx,
    ctx: WriteContext,
    subject: CheckedWork,
    prepared: Prepared,
    confirmation: Confirmation,
    add: () => Promise<string>,
  ): Promise<PlannedWork> {
    const detection = await this.#detect(tx, subject, prepared);
    const { confirmed, reason } = confirmation;
    if (!confirmed && detection.escalated.length > 0) return { id: null, overlap: await this.#result(tx, ctx, subject, prepared, detection, null) };
    const id = await add();
    await indexWork(tx, subject, id, 'planned');
    const warning = await storeWarning(tx, subject, detection, { checkId: null, subjectId: id });
    if (warning && reason !== undefined) await confirmWarning(tx, ctx, warning.id, reason, { planned: id });
    return { id, overlap: await this.#result(tx, ctx, { ...subject, plannedId: id }, prepared, detection, warning?.id ?? null) };
  }

  /**
   * Compares the work again, inside the transaction that starts it, and decides whether it may start. `begin` stores or activates the work. It
   * is not called if the start is blocked.
   */
  async start<W extends { readonly id: string }>(
    tx: Tx,
    ctx: WriteContext,
    subject: CheckedWork,
    answer: StartAnswer,
    prepared: Prepared,
    begin: () => Promise<W>,
  ): Promise<StartedWork<W> | Refused> {
    const detection = await this.#detect(tx, subject, prepared);
    const check = await latestCheck(tx.db, tx.workspace, subject, tx.now);
    const facts = check && (await factsOf(tx, check, detection));
    const ruling = ruleStart(facts, answer, callsFor(subject));
    const code = 'blocked' in ruling ? ruling.blocked : null;
    // The comparison at the start of planned work is recorded too. NEW_OVERLAP is excluded, because `#block` records it as a new check.
    if (subject.plannedId !== null && code !== 'NEW_OVERLAP') {
      const payload = { title: subject.title, activation: true, passed: code === null, code };
      record(tx, ctx, { category: 'work', kind: `${subject.kind}.checked`, subject: subject.plannedId, payload });
    }
    if ('blocked' in ruling) return await this.#block(tx, ctx, subject, prepared, detection, facts, ruling);
    const passed = check as PreflightCheckRow;
    await changeRows(tx.db, 'preflight_checks', { workspace_id: tx.workspace, id: passed.id }, { used_at: tx.now });
    const work = await begin();
    if (subject.plannedId === null) await indexWork(tx, subject, work.id, 'active');
    else await setItemStatus(tx, work.id, 'active');
    await settle(tx, ctx, passed, ruling, answer, work.id);
    return { work, warningId: passed.warning_id, conflicts: await conflictsOf(tx, ctx, subject, work.id) };
  }

  async #block(
    tx: Tx,
    ctx: WriteContext,
    subject: CheckedWork,
    prepared: Prepared,
    detection: Detection,
    check: CheckFacts | undefined,
    ruling: BlockedStart,
  ): Promise<Refused> {
    const { blocked, message, next, fields = {} } = ruling;
    if (blocked === 'CHECK_REQUIRED' || blocked === 'CHECK_EXPIRED') return refused('blocked', blocked, message, next);
    const found = withLive(detection, check?.live ?? []);
    if (blocked === 'NEW_OVERLAP') {
      // The reply must contain the id of the check that is recorded here, not the id of the earlier check.
      const result = await this.#recordCheck(tx, ctx, subject, prepared, found);
      return refused('blocked', blocked, message, howToJudge(callsFor(subject), result.check_id, idsOf(result.candidates)), { ...result, ...fields });
    }
    const result = await this.#result(tx, ctx, subject, prepared, found, check?.warningId ?? null);
    return refused('blocked', blocked, message, next, { check_id: check?.id ?? null, ...result, ...fields });
  }

  async #recordCheck(tx: Tx, ctx: WriteContext, subject: CheckedWork, prepared: Prepared, detection: Detection): Promise<CheckResult> {
    const { check, warning } = await storeCheck(tx, ctx, subject, detection);
    return { check_id: check.id, ...(await this.#result(tx, ctx, subject, prepared, detection, warning?.id ?? null)) };
  }

  async #result(tx: Tx, ctx: WriteContext, subject: CheckedWork, prepared: Prepared, detection: Detection, warningId: string | null) {
    const show = shownTo((await viewerOf(tx.db, ctx.principal)).name);
    return {
      warning_id: warningId,
      requires_verdict: detection.escalated.length > 0,
      candidates: detection.escalated.map(show),
      matches: detection.matches.map(show),
      file_conflicts: await conflictsOf(tx, ctx, subject, subject.plannedId),
      engine: { embedder: prepared.embedder },
    };
  }
}

/** Adds the work to the index, so that other work is compared with it. The files of a task are marked as in use by its owner. */
export async function indexWork(tx: Tx, work: CheckedWork, id: string, status: ItemStatus): Promise<void> {
  await indexItem(tx, { ...work, id, ownerId: work.developerId, status, closedAt: null });
  if (work.kind === 'task') await markWorkFiles(tx, work, id);
}

export async function markWorkFiles(tx: Tx, { developerId, repo, action, title, files }: CheckedWork, id: string): Promise<void> {
  await markFiles(tx, { source: 'task', sourceId: id, developerId, repo, action, label: title, expiresAt: null }, files);
}

/** Adds the check's candidates that are still open, even if the words of the start no longer match them. */
function withLive({ matches, escalated }: Detection, live: readonly OverlapMatch[]): Detection {
  const isNew = ({ id }: OverlapMatch) => !live.some((match) => match.id === id);
  return { matches: [...live, ...matches.filter(isNew)], escalated: [...live, ...escalated.filter(isNew)] };
}

/** The files of this work that others are also working on. */
const conflictsOf = (tx: Tx, ctx: WriteContext, { files, repo }: CheckedWork, own: string | null): Promise<FileConflict[]> =>
  fileConflicts(tx.db, tx.workspace, { files, repo, viewer: ctx.principal, now: tx.now, except: own === null ? [] : [own] });

/** Combines a check with the current state of its matches. Since the check, some may have ended and other work may have started. */
async function factsOf(tx: Tx, check: PreflightCheckRow, detection: Detection): Promise<CheckFacts> {
  const escalated = readJson(checkedIds, check.candidates);
  const warning = check.warning_id ? await findWarning(tx.db, tx.workspace, check.warning_id) : undefined;
  const found = warning ? readMatches(warning) : [];
  const ids = found.map(({ id }) => id);
  const items = await findItems(tx.db, tx.workspace, ids);
  const open = found.flatMap((match) => {
    const item = items.get(match.id);
    return item && isOpen(item.status) ? [{ ...match, owner: item.owner_id, status: item.status }] : [];
  });
  return {
    id: check.id,
    warningId: check.warning_id,
    age: tx.now - check.created_at,
    used: check.used_at !== null,
    escalated,
    live: open.filter(({ id }) => escalated.includes(id)),
    isOver: open.length === 0 && found.some(({ status }) => isOpen(status)),
    arrived: detection.escalated.filter(({ id }) => !escalated.includes(id)),
  };
}

const checkedIds = z.array(z.string());

/** Links the check's warning to the started work and records how the warning was resolved. */
async function settle(tx: Tx, ctx: WriteContext, check: PreflightCheckRow, ruling: PassedStart, answer: StartAnswer, subjectId: string): Promise<void> {
  if (ruling.passes === 'judged') await storeVerdict(tx, ctx, { check, verdict: ruling.verdict, reason: answer.confirmation_reason, subjectId });
  if (ruling.passes === 'clear' && check.warning_id) await attachWarning(tx, check.warning_id, subjectId);
  const ended = ruling.passes === 'clear' ? null : check.warning_id;
  // The same answer also resolves the warning that was stored with the plan.
  for (const id of [ended, await openPlanWarning(tx.db, tx.workspace, subjectId)]) if (id) await endWarning(tx, ctx, id, ruling, answer, subjectId);
}

async function endWarning(tx: Tx, ctx: WriteContext, id: string, ruling: PassedStart, answer: StartAnswer, started: string): Promise<void> {
  if (ruling.passes === 'judged') {
    await resolveWarning(tx, id, { status: 'judged', reason: answer.confirmation_reason ?? null, subjectId: started });
  } else if (ruling.passes === 'confirmed') {
    await confirmWarning(tx, ctx, id, ruling.reason, { started });
  } else {
    const reason =
      ruling.passes === 'outlived'
        ? 'The overlapping work is completed or cancelled.'
        : 'When the work started, no similar work remained that needed a verdict.';
    await dismissAutomatically(tx, ctx, id, reason, { started });
  }
}

/** Checks are read for longer than they are valid, so that a start can distinguish an expired check from a missing one. */
const CHECKS_READ_MS = 24 * 3_600_000;

/**
 * The developer's latest check of work with this title. Several tasks may have the same title, so a check of a planned task counts only if it
 * was made for the same planned task. A workstream is identified by its title alone.
 */
async function latestCheck(
  db: Db,
  workspace: string,
  subject: Pick<CheckedWork, 'kind' | 'developerId' | 'title' | 'plannedId'>,
  now: number,
): Promise<PreflightCheckRow | undefined> {
  const { kind, developerId, title, plannedId } = subject;
  const ofTask = kind === 'task' ? { planned_id: plannedId } : {};
  const since = { created_at: { '>': now - CHECKS_READ_MS } };
  return await findRow(
    db,
    'preflight_checks',
    { workspace_id: workspace, developer_id: developerId, kind, title, ...ofTask, ...since },
    { created_at: 'desc', id: 'desc' },
  );
}

/** Id of the unresolved warning that was stored when this work was planned. */
async function openPlanWarning(db: Db, workspace: string, subjectId: string): Promise<string | undefined> {
  return (await findRow(db, 'overlap_warnings', { workspace_id: workspace, subject_id: subjectId, check_id: null, resolved_at: null }))?.id;
}

/** Closes the warning of planned work that was cancelled. */
export async function dropPlanWarning(tx: Tx, ctx: WriteContext, subjectId: string): Promise<void> {
  const id = await openPlanWarning(tx.db, tx.workspace, subjectId);
  if (id) await dismissAutomatically(tx, ctx, id, 'The planned work was cancelled.', {});
}
