import { record } from '../../../kernel/call.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { invalidInput, notFound, ok, type Refusal } from '../../../kernel/reply.ts';
import { mayBeSameRepo, sameRepo } from '../../../kernel/repo.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, insertRows, matching, newId, view } from '../../../storage/rows.ts';
import type { SessionContextRow } from '../../../storage/schema-rows.ts';
import { callingDeveloper, developerFor, type Viewer, viewerOf } from '../../core/identity/index.ts';
import { type ContextView, contextView, getContext, publishContext, revokeContext } from './contract.ts';

const HOUR_MS = 3_600_000;

export const contextTools: Implementation[] = [
  implement(publishContext, {
    write: async (tx, input, ctx) => {
      const developerId = callingDeveloper(ctx.principal);
      const id = newId('ctx', tx.now);
      const { repo, branch = null, files_touched = [], next_actions = [], blockers = [], task_ids = [] } = input;
      const earlier = (await activeRowsOf(tx.db, tx.workspace, developerId, branch, tx.now)).filter((row) => sameRepo(row.repo, repo));
      for (const row of earlier) await changeRows(tx.db, 'session_contexts', { workspace_id: tx.workspace, id: row.id }, { superseded_by: id });
      const expires_at = tx.now + input.ttl_hours * HOUR_MS;
      await insertRows(tx.db, 'session_contexts', {
        workspace_id: tx.workspace,
        id,
        developer_id: developerId,
        session_id: ctx.session,
        repo,
        branch,
        title: input.title,
        summary: input.summary,
        files_touched: JSON.stringify(files_touched),
        next_actions: JSON.stringify(next_actions),
        blockers: JSON.stringify(blockers),
        task_ids: JSON.stringify(task_ids),
        published_at: tx.now,
        expires_at,
        superseded_by: null,
        revoked_at: null,
      });
      const superseded = earlier.map((row) => row.id);
      record(tx, ctx, {
        category: 'work',
        kind: 'session.context_published',
        subject: id,
        payload: { title: input.title, repo, branch, expires_at, superseded, files_touched: files_touched.length, task_ids: task_ids.slice(0, 20) },
      });
      return ok({ context_id: id, expires_at, superseded }, 'Context published. Teammates can read it with covibe_session operation "get_context".');
    },
  }),
  implement(getContext, {
    read: async ({ developer, context_id }, { reader, workspace, principal, clock }) => {
      if (developer !== undefined && context_id !== undefined) {
        throw invalidInput([{ field: 'context_id', message: 'cannot be combined with developer' }]);
      }
      const now = clock.now();
      const viewer = await viewerOf(reader, principal);
      if (context_id !== undefined) {
        const row = await activeRow(reader, workspace, context_id, now);
        if (!row) throw contextNotFound(context_id);
        return ok({ context: shownContext(row, viewer) }, 'Context found.');
      }
      if (developer !== undefined) {
        const { id } = await developerFor(reader, workspace, principal, developer);
        const row = await latestContextOf(reader, workspace, id, {}, now);
        return row
          ? ok({ context: shownContext(row, viewer) }, 'Latest context of this developer.')
          : ok({ context: null }, 'This developer has no active context.');
      }
      const contexts = await activeContexts(reader, workspace, viewer, now);
      const isAll = contexts.length < MAX_LISTED;
      return ok({ contexts }, isAll ? `${contexts.length} active context(s).` : `The newest ${MAX_LISTED} active contexts. Name a developer to see theirs.`);
    },
  }),
  implement(revokeContext, {
    write: async (tx, { context_id }, ctx) => {
      const row = await activeRow(tx.db, tx.workspace, context_id, tx.now);
      if (row?.developer_id !== callingDeveloper(ctx.principal)) throw contextNotFound(context_id);
      await changeRows(tx.db, 'session_contexts', { workspace_id: tx.workspace, id: context_id }, { revoked_at: tx.now });
      record(tx, ctx, { category: 'work', kind: 'session.context_revoked', subject: context_id, payload: { repo: row.repo, branch: row.branch } });
      return ok({ context_id, revoked_at: tx.now }, 'Context revoked.');
    },
  }),
];

/** One message for contexts that never existed, are no longer active, or belong to somebody else, so that nobody can probe for ids. */
const contextNotFound = (id: string): Refusal =>
  notFound(
    'CONTEXT_NOT_FOUND',
    `Context ${JSON.stringify(id)} does not exist, is no longer active, or is not yours to revoke.`,
    'Call covibe_session with operation "get_context" and no other field to list the active contexts.',
    'context_id',
  );

/** The active contexts, newest first. A context is active until it is revoked, superseded or expired. */
const active = (db: Db, workspace: string, now: number) =>
  matching(db, 'session_contexts', { workspace_id: workspace, superseded_by: null, revoked_at: null })
    .selectAll()
    .where('expires_at', '>', now)
    .orderBy('published_at', 'desc')
    .orderBy('id', 'desc');

async function activeRow(db: Db, workspace: string, id: string, now: number): Promise<SessionContextRow | undefined> {
  return await active(db, workspace, now).where('id', '=', id).executeTakeFirst();
}

/** The active contexts of one developer. If `branch` is set, only those of that branch are returned; null selects contexts without a branch. */
async function activeRowsOf(db: Db, workspace: string, developerId: string, branch: string | null | undefined, now: number): Promise<SessionContextRow[]> {
  let query = active(db, workspace, now).where('developer_id', '=', developerId);
  if (branch !== undefined) query = branch === null ? query.where('branch', 'is', null) : query.where('branch', '=', branch);
  return await query.execute();
}

/** A limit for the size of the reply. It is higher than the number of contexts that a workspace usually has at a time. */
const MAX_LISTED = 500;
/** The newest contexts up to this number are listed in detail, all others in one line. get_context with a context_id returns the whole text. */
const AT_LENGTH = 20;
const LONG = { summary: 600, files: 20, lines: 10 };
const BRIEF = { summary: 80, files: 0, lines: 0 };

/** Shortens a context, so that a list of all contexts is small enough for an agent to read. */
function shortened(context: ContextView, position: number): ContextView {
  const bounds = position < AT_LENGTH ? LONG : BRIEF;
  const short = {
    ...context,
    summary: beginning(context.summary, bounds.summary),
    files_touched: context.files_touched.slice(0, bounds.files),
    next_actions: context.next_actions.slice(0, bounds.lines),
    blockers: context.blockers.slice(0, bounds.lines),
  };
  const parts = ['summary', 'files_touched', 'next_actions', 'blockers'] as const;
  return { ...short, cut: parts.some((part) => short[part].length !== context[part].length || short.summary !== context.summary) };
}

const shownContext = (row: SessionContextRow, viewer: Viewer): ContextView =>
  view(contextView, row, { context_id: row.id, developer: viewer.name(row.developer_id), cut: false });

/** All active contexts, newest first. The names of private developers are hidden. */
export async function activeContexts(db: Db, workspace: string, viewer: Viewer, now: number, limit = MAX_LISTED): Promise<ContextView[]> {
  const rows = await active(db, workspace, now).limit(limit).execute();
  return rows.map((row, position) => shortened(shownContext(row, viewer), position));
}

interface Place {
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
}

/** Finds the context that a handoff attaches: the developer's latest active one in this repository (under any of its names) and branch. */
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

/** Returns the context or, if it was superseded, its successor. The agent that takes over the work must read the current context. */
export async function standingContext(db: Db, workspace: string, id: string, now: number): Promise<SessionContextRow | undefined> {
  const row = await activeRow(db, workspace, id, now);
  if (row) return row;
  const gone = await findRow(db, 'session_contexts', { workspace_id: workspace, id });
  return gone && (await activeRowsOf(db, workspace, gone.developer_id, gone.branch, now)).find(({ repo }) => sameRepo(repo, gone.repo));
}
