import { sql } from 'kysely';
import type { Forgotten } from '../../core/settings/index.ts';

/**
 * Whole threads, or a reply would stand without what it answers: those in which nothing was said since, nothing is unread that has
 * not run out, and no query is unanswered.
 */
export const finishedThreads: Forgotten = {
  async over(db, workspace, before, limit) {
    const rows = await db
      .selectFrom('messages')
      .select('thread_id')
      .distinct()
      .where('workspace_id', '=', workspace)
      .where('sent_at', '<', before)
      .where(
        sql<boolean>`not exists (
          select 1 from messages as m where m.workspace_id = messages.workspace_id and m.thread_id = messages.thread_id and (m.sent_at >= ${before}
            or ((m.expires_at is null or m.expires_at >= ${before}) and (m.status = 'unread' or (m.message_type = 'query' and m.answered_at is null
              and not exists (select 1 from messages as r where r.workspace_id = m.workspace_id and r.thread_id = m.thread_id
                and r.reply_to_id is not null and r.recipient_id = m.sender_id))))))`,
      )
      .limit(limit)
      .execute();
    return rows.map(({ thread_id }) => thread_id);
  },
  remove: (db, workspace, ids) => db.deleteFrom('messages').where('workspace_id', '=', workspace).where('thread_id', 'in', ids).execute(),
};
