import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Cycles of roles that take turns: phase and lock in one row, handoffs, role sessions. */
export const cycles: Migration = {
  number: 9,
  name: 'cycles',
  async up(db) {
    await db.schema
      .createTable('cycles')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('repository', 'text', (c) => c.notNull())
      .addColumn('cycle_id', 'text', (c) => c.notNull())
      .addColumn('feature', 'text', (c) => c.notNull())
      .addColumn('mode', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('machine', 'text', (c) => c.notNull())
      .addColumn('config', 'text')
      .addColumn('phase', 'text', (c) => c.notNull())
      .addColumn('active_role', 'text', (c) => c.notNull())
      .addColumn('lock_role', 'text', (c) => c.notNull())
      .addColumn('lock_token', 'text', (c) => c.notNull())
      .addColumn('lock_acquired_at', 'bigint', (c) => c.notNull())
      .addColumn('reworks', 'integer', (c) => c.notNull())
      .addColumn('started_by', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('completed_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .addColumn('ended_by', 'text')
      .addColumn('reason', 'text')
      .addColumn('revision', 'integer', (c) => c.notNull())
      .addColumn('mirrored', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('cycles_key', ['workspace_id', 'id'])
      .addUniqueConstraint('cycles_named', ['repository', 'cycle_id'])
      .execute();
    // A folder is the same in every workspace: at most one active cycle in a repository, whoever starts it where.
    await sql`create unique index cycles_active on cycles (repository) where status = 'active'`.execute(db);
    await db.schema.createIndex('cycles_of_repository').on('cycles').columns(['repository', 'id']).execute();
    await sql`create index cycles_unmirrored on cycles (repository, id) where mirrored < revision`.execute(db);

    await db.schema
      .createTable('cycle_handoffs')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('cycle', 'text', (c) => c.notNull())
      .addColumn('number', 'integer', (c) => c.notNull())
      .addColumn('target', 'text', (c) => c.notNull())
      .addColumn('producer', 'text', (c) => c.notNull())
      .addColumn('payload', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('cycle_handoffs_key', ['workspace_id', 'cycle', 'number'])
      .execute();

    await db.schema
      .createTable('role_sessions')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('token_sha256', 'text', (c) => c.notNull())
      .addColumn('psk_mark', 'text', (c) => c.notNull())
      .addColumn('repository', 'text', (c) => c.notNull())
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('last_seen', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('closed_at', 'bigint')
      .addColumn('closed_by', 'text')
      .addPrimaryKeyConstraint('role_sessions_key', ['workspace_id', 'id'])
      .addUniqueConstraint('role_sessions_token', ['workspace_id', 'token_sha256'])
      .execute();
    await db.schema.createIndex('role_sessions_of_repository').on('role_sessions').columns(['workspace_id', 'repository', 'id']).execute();

    await db.schema.createIndex('role_sessions_by_expiry').on('role_sessions').columns(['expires_at']).execute();

    await db.schema
      .createTable('psk_failures')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('repository', 'text', (c) => c.notNull())
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('failures', 'integer', (c) => c.notNull())
      .addColumn('last_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('psk_failures_key', ['workspace_id', 'repository', 'role', 'token_id'])
      .execute();
  },
};
