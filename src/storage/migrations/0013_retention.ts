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
  },
};
