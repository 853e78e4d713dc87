import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** What everybody works on, indexed for comparison; checks, warnings and verdicts; which files are in whose hands. */
export const overlap: Migration = {
  number: 2,
  name: 'overlap',
  async up(db, engine) {
    await db.schema
      .createTable('overlap_items')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      // Short names of items for the postings, which are many.
      .addColumn('number', 'integer', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('owner_id', 'text', (c) => c.notNull())
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('scope', 'text')
      .addColumn('action', 'text')
      .addColumn('component', 'text')
      .addColumn('task_type', 'text')
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('repo', 'text')
      .addColumn('analysed', 'text', (c) => c.notNull())
      .addColumn('prefix', 'text')
      .addColumn('files', 'text', (c) => c.notNull())
      .addColumn('revision', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('closed_at', 'bigint')
      .addPrimaryKeyConstraint('overlap_items_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('overlap_items_number').unique().on('overlap_items').columns(['workspace_id', 'number']).execute();
    await db.schema.createIndex('overlap_items_revision').on('overlap_items').columns(['workspace_id', 'revision']).execute();
    await db.schema
      .createIndex('overlap_items_closed')
      .on('overlap_items')
      .columns(['workspace_id', 'closed_at'])
      .where(sql.ref('closed_at'), 'is not', null)
      .execute();
    await db.schema
      .createIndex('overlap_items_prefix')
      .on('overlap_items')
      .columns(['workspace_id', 'prefix'])
      .where(sql.ref('prefix'), 'is not', null)
      .execute();

    await db.schema
      .createTable('overlap_postings')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('term', 'text', (c) => c.notNull())
      .addColumn('item', 'integer', (c) => c.notNull())
      .addColumn('weight', 'integer', (c) => c.notNull())
      // The weight is read with the key, thousands of times a search: SQLite keeps the row in the key, PostgreSQL the weight.
      .$call((table) =>
        engine === 'sqlite' ? table.addPrimaryKeyConstraint('overlap_postings_key', ['workspace_id', 'term', 'item']).modifyEnd(sql`without rowid`) : table,
      )
      .execute();
    if (engine === 'postgres') await sql`create unique index overlap_postings_key on overlap_postings (workspace_id, term, item) include (weight)`.execute(db);

    await db.schema
      .createTable('overlap_terms')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('term', 'text', (c) => c.notNull())
      .addColumn('items', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('overlap_terms_key', ['workspace_id', 'term'])
      .$call((table) => (engine === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table))
      .execute();

    await db.schema
      .createTable('overlap_state')
      .addColumn('workspace_id', 'text', (c) => c.primaryKey())
      .addColumn('revision', 'bigint', (c) => c.notNull())
      .addColumn('items', 'integer', (c) => c.notNull())
      .addColumn('next_number', 'integer', (c) => c.notNull())
      .addColumn('settings', 'text')
      .execute();

    await db.schema
      .createTable('overlap_vectors')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('item_id', 'text', (c) => c.notNull())
      .addColumn('model', 'text', (c) => c.notNull())
      .addColumn('vector', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('overlap_vectors_key', ['workspace_id', 'item_id', 'model'])
      .execute();

    await db.schema
      .createTable('file_marks')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('path', 'text', (c) => c.notNull())
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('source_id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('repo', 'text')
      .addColumn('action', 'text')
      .addColumn('label', 'text')
      .addColumn('marked_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint')
      .addPrimaryKeyConstraint('file_marks_key', ['workspace_id', 'path', 'source', 'source_id'])
      .execute();
    await db.schema.createIndex('file_marks_source').on('file_marks').columns(['workspace_id', 'source', 'source_id']).execute();

    await db.schema
      .createTable('preflight_checks')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('planned_id', 'text')
      .addColumn('warning_id', 'text')
      .addColumn('candidates', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('used_at', 'bigint')
      .addPrimaryKeyConstraint('preflight_checks_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('preflight_checks_latest').on('preflight_checks').columns(['workspace_id', 'developer_id', 'kind', 'created_at']).execute();

    await db.schema
      .createTable('overlap_warnings')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('subject_id', 'text')
      .addColumn('check_id', 'text')
      .addColumn('level', 'text', (c) => c.notNull())
      .addColumn('matches', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('reason', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('resolved_at', 'bigint')
      .addPrimaryKeyConstraint('overlap_warnings_key', ['workspace_id', 'id'])
      .execute();
    await db.schema
      .createIndex('overlap_warnings_open')
      .on('overlap_warnings')
      .columns(['workspace_id', 'id'])
      .where(sql.ref('resolved_at'), 'is', null)
      .execute();

    await db.schema.createIndex('overlap_warnings_subject').on('overlap_warnings').columns(['workspace_id', 'subject_id']).execute();

    await db.schema
      .createTable('scope_verdicts')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('check_id', 'text', (c) => c.notNull())
      .addColumn('warning_id', 'text')
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('subject_id', 'text', (c) => c.notNull())
      .addColumn('verdict', 'text', (c) => c.notNull())
      .addColumn('candidates', 'text', (c) => c.notNull())
      .addColumn('confirmation_reason', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('scope_verdicts_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('scope_verdicts_warning').on('scope_verdicts').columns(['workspace_id', 'warning_id']).execute();
  },
};
