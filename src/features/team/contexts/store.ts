import { z } from 'zod';
import type { Principal } from '../../../kernel/context.ts';
import { mayBeSameRepo, sameRepo } from '../../../kernel/repo.ts';
import { readJson } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import type { SessionContextRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { namesFor } from '../../core/identity/index.ts';
import type { ContextView } from './contract.ts';

export async function insertContext(db: Db, context: SessionContextRow): Promise<void> {
  await db.insertInto('session_contexts').values(context).execute();
}

/** The one rule of what is shown: neither revoked nor superseded nor expired. The newest first. */
const active = (db: Db, workspace: string, now: number) =>
  db
    .selectFrom('session_contexts')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('superseded_by', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('published_at', 'desc')
    .orderBy('id', 'desc');

async function activeRows(db: Db, workspace: string, now: number, limit: number): Promise<SessionContextRow[]> {
  return await active(db, workspace, now).limit(limit).execute();
}

export async function activeRow(db: Db, workspace: string, id: string, now: number): Promise<SessionContextRow | undefined> {
  return await active(db, workspace, now).where('id', '=', id).executeTakeFirst();
}

/** Whatever became of it. */
async function anyRow(db: Db, workspace: string, id: string): Promise<SessionContextRow | undefined> {
  return await db.selectFrom('session_contexts').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

/** The contexts of one developer; of a branch where it is given, which null is: the one that names none. */
export async function activeRowsOf(
  db: Db,
  workspace: string,
  developerId: string,
  branch: string | null | undefined,
  now: number,
): Promise<SessionContextRow[]> {
  let query = active(db, workspace, now).where('developer_id', '=', developerId);
  if (branch !== undefined) query = branch === null ? query.where('branch', 'is', null) : query.where('branch', '=', branch);
  return await query.execute();
}

export async function supersede(tx: Tx, id: string, by: string): Promise<void> {
  await tx.db.updateTable('session_contexts').set({ superseded_by: by }).where('workspace_id', '=', tx.workspace).where('id', '=', id).execute();
}

export async function revoke(tx: Tx, id: string): Promise<void> {
  await tx.db.updateTable('session_contexts').set({ revoked_at: tx.now }).where('workspace_id', '=', tx.workspace).where('id', '=', id).execute();
}

/** More than a workspace has in use at a time; it bounds the answer. */
export const MAX_LISTED = 500;
/** So many of the newest are listed at length; of the others a line, and the whole by its id. */
const AT_LENGTH = 20;
const LONG = { summary: 600, files: 20, lines: 10 };
const BRIEF = { summary: 80, files: 0, lines: 0 };

const strings = z.array(z.string());

function viewOf(row: SessionContextRow, developer: string): ContextView {
  return {
    context_id: row.id,
    developer,
    session_id: row.session_id,
    repo: row.repo,
    branch: row.branch,
    title: row.title,
    summary: row.summary,
    files_touched: readJson(strings, row.files_touched),
    next_actions: readJson(strings, row.next_actions),
    blockers: readJson(strings, row.blockers),
    task_ids: readJson(strings, row.task_ids),
    published_at: row.published_at,
    expires_at: row.expires_at,
    cut: false,
  };
}

/** An answer with everybody's contexts stays of a size that an agent can read. */
function shortened(view: ContextView, position: number): ContextView {
  const most = position < AT_LENGTH ? LONG : BRIEF;
  const short = {
    ...view,
    summary: view.summary.length > most.summary ? `${view.summary.slice(0, most.summary - 1).trimEnd()}…`.toWellFormed() : view.summary,
    files_touched: view.files_touched.slice(0, most.files),
    next_actions: view.next_actions.slice(0, most.lines),
    blockers: view.blockers.slice(0, most.lines),
  };
  const parts = ['summary', 'files_touched', 'next_actions', 'blockers'] as const;
  return { ...short, cut: parts.some((part) => short[part].length !== view[part].length || short.summary !== view.summary) };
}

export async function shownContexts(db: Db, workspace: string, viewer: Principal | null, rows: readonly SessionContextRow[]): Promise<ContextView[]> {
  const name = await namesFor(db, workspace, viewer);
  return rows.map((row) => viewOf(row, name(row.developer_id)));
}

/** Everybody's active contexts, the newest first; a private developer's without their name. */
export async function activeContexts(db: Db, workspace: string, viewer: Principal | null, now: number, limit = MAX_LISTED): Promise<ContextView[]> {
  return (await shownContexts(db, workspace, viewer, await activeRows(db, workspace, now, limit))).map(shortened);
}

interface Place {
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
}

/** What a handoff refers to: the giver's latest active context, of a repository (by any of its names) and branch where these are given. */
export async function latestContextOf(
  db: Db,
  workspace: string,
  developerId: string,
  { repo, branch }: Place,
  now: number,
): Promise<SessionContextRow | undefined> {
  const rows = await activeRowsOf(db, workspace, developerId, branch, now);
  if (repo === undefined) return rows[0];
  return rows.find((row) => sameRepo(row.repo, repo)) ?? rows.find((row) => mayBeSameRepo(row.repo, repo));
}

/** The context, or the one that stands in its place by now: whoever takes over is to read what holds. */
export async function standingContext(db: Db, workspace: string, id: string, now: number): Promise<SessionContextRow | undefined> {
  const row = await activeRow(db, workspace, id, now);
  if (row) return row;
  const gone = await anyRow(db, workspace, id);
  return gone && (await activeRowsOf(db, workspace, gone.developer_id, gone.branch, now)).find(({ repo }) => sameRepo(repo, gone.repo));
}
