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
import { type BlockedStart, type CheckFacts, type PassedStart, ruleStart, type StartAnswer } from './start-rules.ts';
import { fileConflicts, findItems, indexItem, markFiles, setItemStatus } from './store.ts';
import type { TaskText } from './terms.ts';
import { attachWarning, confirmWarning, dismissAutomatically, findWarning, readMatches, resolveWarning, storeWarning } from './warnings.ts';

/** Fetched before the transaction that compares. */
export type Prepared = EmbeddedQuery;

/** Whether planned work that looks like other work may be stored, and why in spite of it. */
export interface Confirmation {
  readonly confirmed: boolean;
  readonly reason?: string | undefined;
}

/** Agents need not confirm a plan; only people do. */
export const UNASKED: Confirmation = { confirmed: true };

/** Work that was started, with the warning that its check had given and the files that others have in hand. */
export interface StartedWork<W> {
  readonly work: W;
  readonly warningId: string | null;
  readonly conflicts: FileConflict[];
}

/** The call that starts the work: planned work has its own operation. */
const startTool = ({ kind, plannedId }: CheckedWork): string => `covibe_${kind} ${plannedId === null ? 'start' : 'start_planned'}`;

/** The one comparison that every check, plan and start goes through, for tasks and workstreams, agents and people alike. */
export class Preflight {
  readonly #finder: Finder;
  readonly #embedder: QueryEmbedder | null;

  constructor(finder: Finder, embedder: QueryEmbedder | null) {
    this.#finder = finder;
    this.#embedder = embedder;
  }

  /** Outside the transaction: the model is asked, and memory brought up to date. */
  async prepare(ctx: Pick<CallContext, 'workspace'>, text: TaskText): Promise<Prepared> {
    const [asked] = await Promise.all([this.#embedder?.ask(text), this.#finder.prepare(ctx.workspace)]);
    return asked ?? { vector: undefined, embedder: 'off' };
  }

  async #detect(tx: Tx, subject: CheckedWork, prepared: Prepared): Promise<Detection> {
    return await detect(tx.db, tx.workspace, subject, { finder: this.#finder, vector: prepared.vector, now: tx.now });
  }

  async check(tx: Tx, ctx: WriteContext, subject: CheckedWork, prepared: Prepared): Promise<Reply<CheckResult>> {
    return checkReply(await this.#recordCheck(tx, ctx, subject, prepared, await this.#detect(tx, subject, prepared)), startTool(subject));
  }

  /**
   * Stores planned work with a warning where it looks like other work. A person must confirm such work first: until then the
   * candidates are returned, and `add`, which stores the work, is not called.
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
   * Compares again inside the transaction that starts the work, and rules on the start; `begin` stores or activates the work, and is not
   * called where the ruling blocks it.
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
    const ruling = ruleStart(facts, answer, startTool(subject));
    const code = 'blocked' in ruling ? ruling.blocked : null;
    // The comparison at the moment of activation is on record too; a new overlap is recorded as a check of its own.
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
    const data =
      blocked === 'NEW_OVERLAP'
        ? await this.#recordCheck(tx, ctx, subject, prepared, found)
        : { check_id: check?.id ?? null, ...(await this.#result(tx, ctx, subject, prepared, found, check?.warningId ?? null)) };
    return refused('blocked', blocked, message, next, { ...data, ...fields });
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

/** Others are compared with the work from now on, and see its files in its owner's hands. */
export async function indexWork(tx: Tx, work: CheckedWork, id: string, status: ItemStatus): Promise<void> {
  await indexItem(tx, { ...work, id, ownerId: work.developerId, status, closedAt: null });
  if (work.kind === 'task') await markWorkFiles(tx, work, id);
}

export async function markWorkFiles(tx: Tx, { developerId, repo, action, title, files }: CheckedWork, id: string): Promise<void> {
  await markFiles(tx, { source: 'task', sourceId: id, developerId, repo, action, label: title, expiresAt: null }, files);
}

/** Candidates of the check that are still open are part of the answer, even if the words of the start no longer match them. */
function withLive({ matches, escalated }: Detection, live: readonly OverlapMatch[]): Detection {
  const isNew = ({ id }: OverlapMatch) => !live.some((match) => match.id === id);
  return { matches: [...live, ...matches.filter(isNew)], escalated: [...live, ...escalated.filter(isNew)] };
}

/** The files of the work that others have in hand. */
const conflictsOf = (tx: Tx, ctx: WriteContext, { files, repo }: CheckedWork, own: string | null): Promise<FileConflict[]> =>
  fileConflicts(tx.db, tx.workspace, { files, repo, viewer: ctx.principal, now: tx.now, except: own === null ? [] : [own] });

/** The check and the present state of its matches: some may have ended, and other work may have started. */
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

/** How the warning of the check ended, on record with the work that was started. */
async function settle(tx: Tx, ctx: WriteContext, check: PreflightCheckRow, ruling: PassedStart, answer: StartAnswer, subjectId: string): Promise<void> {
  if (ruling.passes === 'judged') await storeVerdict(tx, ctx, { check, verdict: ruling.verdict, reason: answer.confirmation_reason, subjectId });
  if (ruling.passes === 'clear' && check.warning_id) await attachWarning(tx, check.warning_id, subjectId);
  const ended = ruling.passes === 'clear' ? null : check.warning_id;
  // The same answer also ends the warning that was stored with the plan.
  for (const id of [ended, await openPlanWarning(tx.db, tx.workspace, subjectId)]) if (id) await endWarning(tx, ctx, id, ruling, answer, subjectId);
}

async function endWarning(tx: Tx, ctx: WriteContext, id: string, ruling: PassedStart, answer: StartAnswer, started: string): Promise<void> {
  if (ruling.passes === 'judged') {
    await resolveWarning(tx, id, { status: 'judged', reason: answer.confirmation_reason ?? null, subjectId: started });
  } else if (ruling.passes === 'confirmed') {
    await confirmWarning(tx, ctx, id, ruling.reason, { started });
  } else {
    const reason = ruling.passes === 'outlived' ? 'What it overlapped with is done or cancelled.' : 'Nothing was left to judge when the work was started.';
    await dismissAutomatically(tx, ctx, id, reason, { started });
  }
}

/** A check is valid for minutes. For this long a start can still tell an expired check from none. */
const CHECKS_READ_MS = 24 * 3_600_000;

/**
 * The developer's latest check of work with this title. Tasks may share a title, so a check of a planned one must have named
 * it; a workstream is known by its title alone.
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

/** The unresolved warning that was stored together with the plan of this work. */
async function openPlanWarning(db: Db, workspace: string, subjectId: string): Promise<string | undefined> {
  return (await findRow(db, 'overlap_warnings', { workspace_id: workspace, subject_id: subjectId, check_id: null, resolved_at: null }))?.id;
}

/** Closes the warning of planned work that was cancelled. */
export async function dropPlanWarning(tx: Tx, ctx: WriteContext, subjectId: string): Promise<void> {
  const id = await openPlanWarning(tx.db, tx.workspace, subjectId);
  if (id) await dismissAutomatically(tx, ctx, id, 'The planned work was cancelled.', {});
}
