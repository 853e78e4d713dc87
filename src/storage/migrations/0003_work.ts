import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Tasks and workstreams of the team, and the audits of work that runs in parallel. */
export const work: Migration = {
  number: 3,
  name: 'work',
  async up(db) {
    await db.schema
      .createTable('workstreams')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text')
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('description', 'text')
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('auto_created', 'integer', (c) => c.notNull())
      .addColumn('result_summary', 'text')
      .addColumn('reason', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('closed_at', 'bigint')
      .addPrimaryKeyConstraint('workstreams_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('workstreams_owner').on('workstreams').columns(['workspace_id', 'developer_id', 'status']).execute();
    await db.schema.createIndex('workstreams_status').on('workstreams').columns(['workspace_id', 'status', 'updated_at']).execute();

    await db.schema
      .createTable('tasks')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text')
      .addColumn('workstream_id', 'text')
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('task_type', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('description', 'text')
      .addColumn('scope', 'text')
      .addColumn('action', 'text')
      .addColumn('component', 'text')
      .addColumn('priority', 'text', (c) => c.notNull())
      .addColumn('target_files', 'text', (c) => c.notNull())
      .addColumn('repo', 'text')
      .addColumn('result_summary', 'text')
      .addColumn('summary', 'text')
      .addColumn('reason', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('started_at', 'bigint')
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('closed_at', 'bigint')
      .addPrimaryKeyConstraint('tasks_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('tasks_status').on('tasks').columns(['workspace_id', 'status', 'updated_at']).execute();
    await db.schema.createIndex('tasks_updated').on('tasks').columns(['workspace_id', 'updated_at', 'id']).execute();
    await db.schema.createIndex('tasks_owner').on('tasks').columns(['workspace_id', 'developer_id', 'status']).execute();
    await db.schema.createIndex('tasks_workstream').on('tasks').columns(['workspace_id', 'workstream_id', 'status']).execute();

    await db.schema
      .createTable('parallel_audits')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('compared', 'integer', (c) => c.notNull())
      .addColumn('conflicts', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('parallel_audits_key', ['workspace_id', 'id'])
      .execute();

    // Feedback is asked for by developer, and is rare: an index over it alone costs the other events nothing.
    await db.schema.createIndex('events_feedback').on('events').columns(['workspace_id', 'seq']).where(sql.ref('category'), '=', sql.lit('feedback')).execute();
  },
};
