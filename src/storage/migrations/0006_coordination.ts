import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** What agents tell each other: claims, announcements, asks, handoffs, and notes. */
export const coordination: Migration = {
  number: 6,
  name: 'coordination',
  async up(db) {
    await db.schema
      .createTable('claims')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('agent_type', 'text')
      .addColumn('session_id', 'text')
      .addColumn('repo', 'text', (c) => c.notNull())
      .addColumn('paths', 'text', (c) => c.notNull())
      .addColumn('symbols', 'text', (c) => c.notNull())
      .addColumn('mode', 'text', (c) => c.notNull())
      .addColumn('reason', 'text')
      .addColumn('ttl_minutes', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('released_at', 'bigint')
      .addColumn('expired_at', 'bigint')
      .addPrimaryKeyConstraint('claims_key', ['workspace_id', 'id'])
      .execute();
    // Claims that are over stay as a record; only those that may be live are ever searched.
    await db.schema
      .createIndex('claims_standing')
      .on('claims')
      .columns(['workspace_id', 'expires_at'])
      .where(sql.ref('released_at'), 'is', null)
      .where(sql.ref('expired_at'), 'is', null)
      .execute();

    await db.schema
      .createTable('announcements')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text')
      .addColumn('message', 'text', (c) => c.notNull())
      .addColumn('repo', 'text')
      .addColumn('paths', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('announcements_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('announcements_time').on('announcements').columns(['workspace_id', 'created_at']).execute();

    await db.schema
      .createTable('asks')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('from_developer_id', 'text', (c) => c.notNull())
      .addColumn('from_actor', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text')
      .addColumn('to_developer_id', 'text', (c) => c.notNull())
      .addColumn('to_agent_type', 'text')
      .addColumn('message', 'text', (c) => c.notNull())
      .addColumn('repo', 'text')
      .addColumn('paths', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('due_at', 'bigint', (c) => c.notNull())
      .addColumn('delivered_at', 'bigint')
      .addColumn('read_at', 'bigint')
      .addColumn('answer', 'text')
      .addColumn('answered_at', 'bigint')
      .addColumn('answer_delivered_at', 'bigint')
      .addPrimaryKeyConstraint('asks_key', ['workspace_id', 'id'])
      .execute();
    // Looked through with every heartbeat.
    await db.schema
      .createIndex('asks_to')
      .on('asks')
      .columns(['workspace_id', 'to_developer_id', 'due_at'])
      .where(sql.ref('answered_at'), 'is', null)
      .execute();
    await db.schema.createIndex('asks_from').on('asks').columns(['workspace_id', 'from_developer_id', 'due_at']).execute();
    await db.schema.createIndex('asks_open').on('asks').columns(['workspace_id', 'due_at']).where(sql.ref('answered_at'), 'is', null).execute();
    await db.schema
      .createIndex('asks_fresh_answers')
      .on('asks')
      .columns(['workspace_id', 'from_developer_id'])
      .where(sql.ref('answered_at'), 'is not', null)
      .where(sql.ref('answer_delivered_at'), 'is', null)
      .execute();

    await db.schema
      .createTable('handoffs')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('from_developer_id', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text')
      .addColumn('to_developer_id', 'text', (c) => c.notNull())
      .addColumn('to_agent_type', 'text')
      .addColumn('message', 'text', (c) => c.notNull())
      .addColumn('task_ids', 'text', (c) => c.notNull())
      .addColumn('claim_ids', 'text', (c) => c.notNull())
      .addColumn('repo', 'text')
      .addColumn('branch', 'text')
      .addColumn('context_id', 'text')
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('accepted_at', 'bigint')
      .addColumn('taken_task_ids', 'text', (c) => c.notNull())
      .addColumn('taken_claim_ids', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('handoffs_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('handoffs_status').on('handoffs').columns(['workspace_id', 'status', 'created_at']).execute();
    for (const side of ['to', 'from']) {
      await db.schema
        .createIndex(`handoffs_${side}`)
        .on('handoffs')
        .columns(['workspace_id', `${side}_developer_id`, 'status', 'created_at'])
        .execute();
    }

    await db.schema
      .createTable('notes')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('body', 'text')
      .addColumn('task_id', 'text')
      .addColumn('workstream_id', 'text')
      .addColumn('session_id', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('notes_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('notes_time').on('notes').columns(['workspace_id', 'created_at']).execute();
  },
};
