import type { Migration } from '../migrate.ts';

/** How many events the calls of each token have added to the journal in a day, so that several servers count together. */
export const quota: Migration = {
  number: 14,
  name: 'quota',
  async up(db) {
    await db.schema
      .createTable('journal_growth')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('day', 'text', (c) => c.notNull())
      .addColumn('events', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('journal_growth_key', ['workspace_id', 'token_id', 'day'])
      .execute();
  },
};
