import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** The journal, who may call, and what they may call. */
export const foundation: Migration = {
  number: 1,
  name: 'foundation',
  async up(db, engine) {
    await db.schema
      .createTable('schema_migrations')
      .addColumn('number', 'integer', (c) => c.primaryKey())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('applied_at', 'bigint', (c) => c.notNull())
      .execute();

    await db.schema
      .createTable('events')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('seq', 'bigint', (c) => c.notNull())
      .addColumn('category', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('subject', 'text')
      .addColumn('session', 'text')
      .addColumn('payload', 'text', (c) => c.notNull())
      .addColumn('time', 'bigint', (c) => c.notNull())
      .addColumn('hash', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('events_key', ['workspace_id', 'seq'])
      // The key is the order in which rows come and are read: SQLite keeps them in it, in one tree instead of two.
      .$call((table) => (engine === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table))
      .execute();

    await db.schema
      .createTable('journal_heads')
      .addColumn('workspace_id', 'text', (c) => c.primaryKey())
      .addColumn('seq', 'bigint', (c) => c.notNull())
      .addColumn('hash', 'text', (c) => c.notNull())
      .execute();

    await db.schema
      .createTable('workspaces')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('name', 'text', (c) => c.notNull().unique())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .execute();

    await db.schema
      .createTable('developers')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('visibility', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('developers_key', ['workspace_id', 'id'])
      .addUniqueConstraint('developers_name', ['workspace_id', 'name'])
      .execute();

    await db.schema
      .createTable('tokens')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('hash', 'text', (c) => c.notNull().unique())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text')
      .addColumn('agent_type', 'text')
      .addColumn('instance_id', 'text')
      .addColumn('label', 'text', (c) => c.notNull())
      .addColumn('created_by', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('last_used_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .addPrimaryKeyConstraint('tokens_key', ['workspace_id', 'id'])
      .execute();

    await db.schema
      .createTable('signin_links')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('hash', 'text', (c) => c.primaryKey())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('used_at', 'bigint')
      .execute();

    await db.schema
      .createTable('grants')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('subject', 'text', (c) => c.notNull())
      .addColumn('action', 'text', (c) => c.notNull())
      .addColumn('scope', 'text', (c) => c.notNull())
      .addColumn('max_uses', 'integer')
      .addColumn('uses', 'integer', (c) => c.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('revision', 'integer', (c) => c.notNull())
      .addColumn('granted_by', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('revoked_at', 'bigint')
      .addColumn('revoked_by', 'text')
      .addPrimaryKeyConstraint('grants_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('grants_subject_action').on('grants').columns(['workspace_id', 'subject', 'action']).execute();
  },
};
