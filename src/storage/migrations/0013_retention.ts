import { type Kysely, sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Where each journal begins that has been pruned: the last event deleted, which the first one kept is chained to. */
export const retention: Migration = {
  number: 13,
  name: 'retention',
  async up(db) {
    await db.schema
      .createTable('journal_anchors')
      .addColumn('workspace_id', 'text', (c) => c.primaryKey())
      .addColumn('seq', 'bigint', (c) => c.notNull())
      .addColumn('hash', 'text', (c) => c.notNull())
      .addColumn('time', 'bigint', (c) => c.notNull())
      .execute();
    await indexWhatGrows(db);
  },
};

/** Lookups that read all there ever was of a table for the few rows that are asked for: each has an index with those alone, or in their order. */
async function indexWhatGrows(db: Kysely<unknown>): Promise<void> {
  const index = (name: string, table: string, ...columns: string[]) =>
    db.schema
      .createIndex(name)
      .on(table)
      .columns(['workspace_id', ...columns]);
  await index('tasks_open', 'tasks', 'updated_at', 'id').where(sql.ref('closed_at'), 'is', null).execute();
  await index('tasks_unplaced', 'tasks', 'id').where(sql.ref('workstream_id'), 'is', null).execute();
  await index('tasks_session', 'tasks', 'session_id', 'started_at', 'id').where(sql.ref('session_id'), 'is not', null).execute();
  await db.schema.dropIndex('tasks_owner').execute();
  await index('tasks_owner', 'tasks', 'developer_id', 'updated_at', 'id').execute();
  await db.schema.dropIndex('tasks_status').execute();
  await index('tasks_status', 'tasks', 'status', 'updated_at', 'id').execute();
  await index('notes_session', 'notes', 'session_id', 'created_at', 'id').where(sql.ref('session_id'), 'is not', null).execute();
  await index('overlap_warnings_escalated', 'overlap_warnings', 'id').where(sql.ref('level'), '=', sql.lit('escalated')).execute();
  await index('messages_undelivered', 'messages', 'sent_at')
    .where(sql.ref('status'), '=', sql.lit('unread'))
    .where(sql.ref('delivered_at'), 'is', null)
    .execute();
  await index('tokens_of_agents', 'tokens', 'id').where(sql.ref('kind'), '=', sql.lit('agent')).execute();
  await index('tokens_live', 'tokens', 'id').where(sql.ref('revoked_at'), 'is', null).execute();
  await index('instances_status', 'instances', 'status').execute();
  await index('instances_made', 'instances', 'created_at', 'id').execute();
  await index('instances_ended', 'instances', 'ended_at').execute();
  // People name things by the end of their ids.
  for (const table of ['tasks', 'workflow_tasks', 'claims', 'messages', 'overlap_warnings', 'instances', 'asks', 'handoffs', 'approvals', 'tokens']) {
    await sql`create index ${sql.raw(`${table}_ending`)} on ${sql.table(table)} (lower(substr(id, length(id) - 3)), workspace_id, id)`.execute(db);
  }
}
