import { sql } from 'kysely';
import { z } from 'zod';
import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { newId } from '../../../kernel/ids.ts';
import { type Ok, ok } from '../../../kernel/reply.ts';
import { calledRepository, findBySuffix } from '../../../kernel/tail.ts';
import { readJson, view } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';
import { changeRows, findRow, findRows, insertRows, matching, rowsById } from '../../../storage/rows.ts';
import type { OverlapWarningRow, PreflightCheckRow, ScopeVerdictRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type Viewer, viewerOf } from '../../core/identity/index.ts';
import {
  match,
  type OverlapMatch,
  type ScopeVerdict,
  scopeVerdict,
  type showOverlap,
  storedWarning,
  type WarningLevel,
  type WarningStatus,
} from './contract.ts';
import { type CheckedWork, type Detection, shownTo } from './detect.ts';

export interface StoredCheck {
  readonly check: PreflightCheckRow;
  readonly warning: OverlapWarningRow | null;
}

/** Events stay small whatever was found and said: one that is too large would be replaced by its digest. */
const LISTED = 10;
const REASON_BYTES = 300;
const CONFIRMATION_BYTES = 2_000;
const listed = (matches: readonly OverlapMatch[]) => matches.slice(0, LISTED).map(({ id, score, level, status }) => ({ id, score, level, status }));

/** Stores the check, and its warning where anything was found. */
export async function storeCheck(tx: Tx, ctx: WriteContext, subject: CheckedWork, detection: Detection): Promise<StoredCheck> {
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
  let query = db
    .selectFrom('preflight_checks')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('developer_id', '=', subject.developerId)
    .where('kind', '=', subject.kind)
    .where('title', '=', subject.title)
    .where('created_at', '>', now - LOOKED_BACK_MS);
  if (subject.kind === 'task') query = query.where('planned_id', subject.plannedId === null ? 'is' : '=', subject.plannedId);
  return await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst();
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

interface WarningPage {
  readonly open?: boolean | undefined;
  readonly level?: WarningLevel | undefined;
  readonly subject_id?: string | undefined;
  readonly developer_id?: string | undefined;
  readonly repository?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function recentWarnings(db: Db, workspace: string, page: WarningPage): Promise<OverlapWarningRow[]> {
  const { open = false, level, subject_id, developer_id, repository, before } = page;
  let query = db.selectFrom('overlap_warnings').selectAll().where('workspace_id', '=', workspace);
  if (open) query = query.where('resolved_at', 'is', null);
  if (level) query = query.where('level', '=', level);
  if (subject_id) query = query.where('subject_id', '=', subject_id);
  if (developer_id) query = query.where('developer_id', '=', developer_id);
  if (before) query = query.where('id', '<', before);
  if (repository) {
    // What only a check was made for, and a workstream, is in no repository that is known of: it may be in this one.
    query = query.where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('tasks')
            .select(sql`1`.as('one'))
            .whereRef('tasks.workspace_id', '=', 'overlap_warnings.workspace_id')
            .whereRef('tasks.id', '=', 'overlap_warnings.subject_id')
            .where('tasks.repo', 'is not', null)
            .where(sql<boolean>`not ${calledRepository('tasks.repo', repository)}`),
        ),
      ),
    );
  }
  return await query.orderBy('id', 'desc').limit(page.limit).execute();
}

export const warningNamed = (db: Db, workspace: string, tail: string): Promise<OverlapWarningRow> =>
  findBySuffix(matching(db, 'overlap_warnings', { workspace_id: workspace }).selectAll(), tail, 'warning');

/** What the work is called that each of the warnings is about. */
export async function titlesOfWarnings(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, string>> {
  return new Map(Array.from(await rowsById(db, 'overlap_warnings', workspace, ids), ([id, { title }]) => [id, title]));
}

interface OverlapCount {
  readonly all: number;
  readonly open: number;
}

/** How many warnings there are about each of these pieces of work; none of those that are missing. */
export async function overlapsOf(db: Db, workspace: string, subjectIds: readonly string[]): Promise<Map<string, OverlapCount>> {
  if (subjectIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('overlap_warnings')
    .select(['subject_id', (eb) => eb.fn.countAll<string | number>().as('all'), (eb) => eb.fn.count<string | number>('resolved_at').as('resolved')])
    .where('workspace_id', '=', workspace)
    .where('subject_id', 'in', subjectIds)
    .groupBy('subject_id')
    .execute();
  return new Map(rows.map(({ subject_id, all, resolved }) => [String(subject_id), { all: Number(all), open: Number(all) - Number(resolved) }]));
}

/** Of each of the warnings that has one, by its id. */
export async function verdictsOf(db: Db, workspace: string, warningIds: readonly string[]): Promise<Map<string, ScopeVerdictRow>> {
  const rows = await findRows(db, 'scope_verdicts', { workspace_id: workspace, warning_id: warningIds });
  return new Map(rows.map((row) => [row.warning_id as string, row]));
}

const resolution = z.looseObject({ warning_id: z.string().nullish(), automatic: z.boolean().optional() });

/** Who resolved each of the warnings, as the journal has it. A verdict is told of with the work that it was given for. */
export async function resolversOf(db: Db, workspace: string, warningIds: readonly string[], judged: readonly string[]): Promise<Map<string, string>> {
  const subjects = [...warningIds, ...judged];
  if (subjects.length === 0) return new Map();
  const events = await eventsAbout(db, workspace, subjects)
    .select(['actor', 'subject', 'payload'])
    .where('kind', 'in', ['scope.judged', 'warning.confirmed', 'warning.dismissed'])
    .execute();
  return new Map(
    events.flatMap(({ actor, subject, payload }) => {
      const { warning_id, automatic = false } = readJson(resolution, payload);
      return automatic ? [] : [[warning_id ?? String(subject), actor] as const];
    }),
  );
}

export const resolvedAlready = ({ status }: OverlapWarningRow): string => `The warning is ${status} already; nothing was changed.`;

/** Clears a warning from view, by an agent or a person. */
export async function dismiss(tx: Tx, ctx: WriteContext, { id }: OverlapWarningRow, reason: string): Promise<Ok<{ warning_id: string; status: 'dismissed' }>> {
  await resolveWarning(tx, id, { status: 'dismissed', reason });
  record(tx, ctx, { category: 'work', kind: 'warning.dismissed', subject: id, payload: { automatic: false, reason } });
  return ok({ warning_id: id, status: 'dismissed' }, 'Dismissed.');
}

/** A stored warning as a viewer may see it. */
export const warningView = (row: OverlapWarningRow, name: (developerId: string) => string) =>
  view(storedWarning, row, { warning_id: row.id, developer: name(row.developer_id), matches: readMatches(row).map(shownTo(name)) });

type OverlapView = Output<typeof showOverlap>['overlap'];

/** The same with what was judged, and by whom. */
export async function viewOverlaps(db: Db, workspace: string, principal: Principal, warnings: readonly OverlapWarningRow[]): Promise<OverlapView[]> {
  const viewer = await viewerOf(db, principal);
  const ids = warnings.map(({ id }) => id);
  const verdicts = await verdictsOf(db, workspace, ids);
  const resolvers = await resolversOf(db, workspace, ids, [...new Set([...verdicts.values()].map(({ subject_id }) => subject_id))]);
  return warnings.map((row) => {
    const verdict = verdicts.get(row.id);
    const resolver = row.resolved_at === null ? undefined : resolvers.get(row.id);
    return {
      ...warningView(row, viewer.name),
      mine: row.developer_id === viewer.developerId,
      verdict: verdict?.verdict ?? null,
      judgements: verdict ? readJson(scopeVerdict.shape.candidates, verdict.candidates) : [],
      judged_by: resolver === undefined ? null : judgeOf(resolver, row, viewer),
    };
  });
}

/** An instance works for whoever was warned. */
const judgeOf = (actor: string, { developer_id }: OverlapWarningRow, viewer: Viewer): string =>
  viewer.agent(actor, actor.startsWith('instance:') ? developer_id : undefined).name;
