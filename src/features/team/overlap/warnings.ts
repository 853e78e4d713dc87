import { sql } from 'kysely';
import { z } from 'zod';
import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { calledRepository } from '../../../kernel/like.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';
import { changeRows, findRow, findRows, insertRows, matching, newId, readJson, rowsById, view } from '../../../storage/rows.ts';
import type { OverlapWarningRow, ScopeVerdictRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type Viewer, viewerOf } from '../../core/identity/index.ts';
import { match, type OverlapMatch, scopeVerdict, type showOverlap, storedWarning, type WarningLevel, type WarningStatus } from './contract.ts';
import { type CheckedWork, type Detection, shownTo } from './detect.ts';

/** Stores and returns a warning if the detection found matches. Otherwise returns null. */
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

/** Records that somebody starts or plans the work despite the warning, and for what reason. */
export async function confirmWarning(tx: Tx, ctx: WriteContext, id: string, reason: string, work: { started: string } | { planned: string }): Promise<void> {
  await resolveWarning(tx, id, { status: 'confirmed', reason, subjectId: 'started' in work ? work.started : work.planned });
  record(tx, ctx, { category: 'work', kind: 'warning.confirmed', subject: id, payload: { ...work, reason } });
}

export async function dismissAutomatically(tx: Tx, ctx: WriteContext, id: string, reason: string, details: { started?: string }): Promise<void> {
  if (details.started !== undefined) await attachWarning(tx, id, details.started);
  // A warning that is already resolved keeps its own reason.
  if ((await findWarning(tx.db, tx.workspace, id))?.resolved_at !== null) return;
  await resolveWarning(tx, id, { status: 'dismissed', reason });
  record(tx, ctx, { category: 'work', kind: 'warning.dismissed', subject: id, payload: { ...details, automatic: true, reason } });
}

const matchList = z.array(match);
export const readMatches = (warning: OverlapWarningRow): OverlapMatch[] => readJson(matchList, warning.matches);

interface WarningPage {
  readonly open?: boolean | undefined;
  readonly level?: WarningLevel | undefined;
  readonly subject_id?: string | undefined;
  readonly developer_id?: string | undefined;
  readonly repository?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

/** The stored warnings that match the filter, newest first. */
export async function recentWarnings(db: Db, workspace: string, page: WarningPage): Promise<OverlapWarningRow[]> {
  const { open = false, level, subject_id, developer_id, repository, before } = page;
  let query = db.selectFrom('overlap_warnings').selectAll().where('workspace_id', '=', workspace);
  if (open) query = query.where('resolved_at', 'is', null);
  if (level) query = query.where('level', '=', level);
  if (subject_id) query = query.where('subject_id', '=', subject_id);
  if (developer_id) query = query.where('developer_id', '=', developer_id);
  if (before) query = query.where('id', '<', before);
  if (repository) {
    // Only warnings about tasks of other repositories are left out. The repository of other warnings is unknown, so it may be this one.
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

/** For each warning, the title of the work that the warning is about. */
export async function titlesOfWarnings(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, string>> {
  return new Map(Array.from(await rowsById(db, 'overlap_warnings', workspace, ids), ([id, { title }]) => [id, title]));
}

/** For each piece of work, the number of warnings about it. The map does not contain work without warnings. */
export async function overlapsOf(db: Db, workspace: string, subjectIds: readonly string[]): Promise<Map<string, { all: number; open: number }>> {
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

/** Maps the ids of warnings to their verdicts. Warnings without a verdict are missing. */
async function verdictsOf(db: Db, workspace: string, warningIds: readonly string[]): Promise<Map<string, ScopeVerdictRow>> {
  const rows = await findRows(db, 'scope_verdicts', { workspace_id: workspace, warning_id: warningIds });
  return new Map(rows.map((row) => [row.warning_id as string, row]));
}

const resolution = z.looseObject({ warning_id: z.string().nullish(), automatic: z.boolean().optional() });

/** Looks up in the journal who resolved each warning. The event of a verdict has the started work as its subject, and the warning in its payload. */
async function resolversOf(db: Db, workspace: string, warningIds: readonly string[], judged: readonly string[]): Promise<Map<string, string>> {
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

export const warningView = (row: OverlapWarningRow, name: (developerId: string) => string) =>
  view(storedWarning, row, { warning_id: row.id, developer: name(row.developer_id), matches: readMatches(row).map(shownTo(name)) });

type OverlapView = Output<typeof showOverlap>['overlap'];

/** Converts stored warnings to what the viewer may see of them, with the verdicts and the names of those who resolved them. */
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

/** The name of the actor that resolved a warning. An instance is shown as an agent of the warning's developer, because it acts for them. */
const judgeOf = (actor: string, { developer_id }: OverlapWarningRow, viewer: Viewer): string =>
  viewer.agent(actor, actor.startsWith('instance:') ? developer_id : undefined).name;
