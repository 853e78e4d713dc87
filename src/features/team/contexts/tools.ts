import { record } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { invalidInput } from '../../../kernel/input.ts';
import { ok } from '../../../kernel/reply.ts';
import { sameRepo } from '../../../kernel/repo.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { callingDeveloper, developerFor } from '../../core/identity/index.ts';
import { getContext, publishContext, revokeContext } from './contract.ts';
import { activeContexts, activeRow, activeRowsOf, insertContext, latestContextOf, MAX_LISTED, revoke, shownContexts, supersede } from './store.ts';

const HOUR_MS = 3_600_000;

export const contextTools: Implementation[] = [
  implement(publishContext, {
    write: async (tx, input, ctx) => {
      const developerId = callingDeveloper(ctx.principal);
      const id = newId('ctx', tx.now);
      const { repo, branch = null, files_touched = [], next_actions = [], blockers = [], task_ids = [] } = input;
      const earlier = (await activeRowsOf(tx.db, tx.workspace, developerId, branch, tx.now)).filter((row) => sameRepo(row.repo, repo));
      for (const row of earlier) await supersede(tx, row.id, id);
      const expires_at = tx.now + input.ttl_hours * HOUR_MS;
      await insertContext(tx.db, {
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
      return ok({ context_id: id, expires_at, superseded }, 'Context published. Teammates read it with get_context.');
    },
  }),
  implement(getContext, {
    read: async ({ developer, context_id }, { reader, workspace, principal, clock }) => {
      if (developer !== undefined && context_id !== undefined) {
        throw invalidInput([{ field: 'context_id', message: 'names one context; a developer beside it says nothing' }]);
      }
      const now = clock.now();
      if (context_id !== undefined) {
        const row = await activeRow(reader, workspace, context_id, now);
        if (!row) throw contextNotFound(context_id);
        const [context = null] = await shownContexts(reader, workspace, principal, [row]);
        return ok({ context }, 'The context.');
      }
      if (developer !== undefined) {
        const { id } = await developerFor(reader, workspace, principal, developer);
        const row = await latestContextOf(reader, workspace, id, {}, now);
        const [context = null] = await shownContexts(reader, workspace, principal, row ? [row] : []);
        return ok({ context }, context ? 'Their latest context.' : 'They have no active context.');
      }
      const contexts = await activeContexts(reader, workspace, principal, now);
      const isAll = contexts.length < MAX_LISTED;
      return ok({ contexts }, isAll ? `${contexts.length} active context(s).` : `The newest ${MAX_LISTED} active contexts. Name a developer for theirs.`);
    },
  }),
  implement(revokeContext, {
    write: async (tx, { context_id }, ctx) => {
      const row = await activeRow(tx.db, tx.workspace, context_id, tx.now);
      if (row?.developer_id !== callingDeveloper(ctx.principal)) throw contextNotFound(context_id);
      await revoke(tx, context_id);
      record(tx, ctx, { category: 'work', kind: 'session.context_revoked', subject: context_id, payload: { repo: row.repo, branch: row.branch } });
      return ok({ context_id, revoked_at: tx.now }, 'Context withdrawn.');
    },
  }),
];

/** In the same words for one that never was, one that is no longer active, and one to be revoked that is not the caller's. */
const contextNotFound = (id: string): Refusal =>
  new Refusal('CONTEXT_NOT_FOUND', `There is no active context ${JSON.stringify(id)} for you.`, 'covibe_session get_context lists the active ones.', {
    field: 'context_id',
  });
