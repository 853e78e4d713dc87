import { sql } from 'kysely';
import { z } from 'zod';
import { record, type WriteContext } from '../../../kernel/context.ts';
import { type Ok, ok } from '../../../kernel/reply.ts';
import { calledRepository } from '../../../kernel/repository-name.ts';
import { endingIn, onlyMatch } from '../../../kernel/tail.ts';
import { readJson } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';
import type { OverlapWarningRow, ScopeVerdictRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findWarning, resolveWarning } from './checks.ts';
import type { WarningLevel } from './contract.ts';

interface WarningPage {
  readonly open?: boolean | undefined;
  readonly level?: WarningLevel | undefined;
  readonly subject_id?: string | undefined;
  readonly repository?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function recentWarnings(db: Db, workspace: string, page: WarningPage): Promise<OverlapWarningRow[]> {
  const { open = false, level, subject_id, repository, before } = page;
  let query = db.selectFrom('overlap_warnings').selectAll().where('workspace_id', '=', workspace);
  if (open) query = query.where('resolved_at', 'is', null);
  if (level) query = query.where('level', '=', level);
  if (subject_id) query = query.where('subject_id', '=', subject_id);
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

export async function warningNamed(db: Db, workspace: string, tail: string): Promise<OverlapWarningRow> {
  const exact = await findWarning(db, workspace, tail);
  if (exact) return exact;
  const found = await endingIn(db.selectFrom('overlap_warnings').selectAll().where('workspace_id', '=', workspace), tail);
  const id = onlyMatch(
    found.map((row) => row.id),
    tail,
    'warning',
  );
  return found.find((row) => row.id === id) as OverlapWarningRow;
}

/** What the work is called that each of the warnings is about. */
export async function titlesOfWarnings(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('overlap_warnings').select(['id', 'title']).where('workspace_id', '=', workspace).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, title }) => [id, title]));
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
  if (warningIds.length === 0) return new Map();
  const rows = await db.selectFrom('scope_verdicts').selectAll().where('workspace_id', '=', workspace).where('warning_id', 'in', warningIds).execute();
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
