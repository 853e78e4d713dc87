import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Dashboard sessions that are bound to the page's origin, and tokens whose secret can be rotated. */
export const people: Migration = {
  number: 15,
  name: 'people',
  async up(db) {
    await db.schema.alterTable('tokens').addColumn('proof_hash', 'text').execute();
    await db.schema.alterTable('tokens').addColumn('previous_hash', 'text').execute();
    await db.schema.alterTable('tokens').addColumn('previous_ends_at', 'bigint').execute();
    // SQLite cannot add a unique column: the index makes it one, for the few rows that have it.
    await db.schema.createIndex('tokens_previous_hash').unique().on('tokens').column('previous_hash').where(sql.ref('previous_hash'), 'is not', null).execute();
    await db.schema
      .createIndex('tokens_expiring')
      .on('tokens')
      .columns(['workspace_id', 'expires_at'])
      .where(sql.ref('revoked_at'), 'is', null)
      .where(sql.ref('kind'), '=', sql.lit('agent'))
      .execute();
    await db.schema
      .createTable('page_tickets')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('hash', 'text', (c) => c.primaryKey())
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('path', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .execute();
    await db.schema.createIndex('page_tickets_expiry').on('page_tickets').columns(['workspace_id', 'expires_at']).execute();
  },
};
