import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** What people do in the dashboard: approve devices, allow another review, and ask the journal about one subject or actor. */
export const dashboard: Migration = {
  number: 11,
  name: 'dashboard',
  async up(db) {
    await db.schema
      .createTable('device_grants')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('user_code', 'text', (c) => c.notNull())
      .addColumn('device_code_hash', 'text', (c) => c.notNull().unique())
      .addColumn('machine_name', 'text', (c) => c.notNull())
      .addColumn('agents', 'text', (c) => c.notNull())
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('workspace_id', 'text')
      .addColumn('developer_id', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('polled_at', 'bigint')
      .addColumn('interval_seconds', 'integer', (c) => c.notNull())
      .addColumn('decided_at', 'bigint')
      .execute();
    await sql`create unique index device_grants_code on device_grants (user_code) where status = 'pending'`.execute(db);
    await db.schema.createIndex('device_grants_expiry').on('device_grants').column('expires_at').execute();

    await db.schema
      .alterTable('instances')
      .addColumn('extra_reviews', 'integer', (c) => c.notNull().defaultTo(0))
      .execute();

    await db.schema.createIndex('events_subject').on('events').columns(['workspace_id', 'subject', 'seq']).execute();
    await db.schema.createIndex('events_actor').on('events').columns(['workspace_id', 'actor', 'seq']).execute();
  },
};
