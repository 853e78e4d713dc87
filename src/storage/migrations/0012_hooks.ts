import type { Migration } from '../migrate.ts';

/** Runs of agents' own programs, as their hooks tell of them. */
export const hooks: Migration = {
  number: 12,
  name: 'hooks',
  async up(db) {
    await db.schema
      .createTable('client_runs')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('client_session', 'text', (c) => c.notNull())
      .addColumn('client', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text')
      .addColumn('automatic', 'integer', (c) => c.notNull())
      .addColumn('repo', 'text')
      .addColumn('folder', 'text')
      .addColumn('compacted', 'integer', (c) => c.notNull())
      .addColumn('handoffs_told', 'text')
      .addColumn('told_at_stop', 'text')
      .addColumn('denials', 'text', (c) => c.notNull())
      .addColumn('found', 'text', (c) => c.notNull())
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('last_seen_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('client_runs_key', ['workspace_id', 'actor', 'client_session'])
      .execute();
    await db.schema.createIndex('client_runs_session').on('client_runs').columns(['workspace_id', 'session_id']).execute();
    // What waits for the agents of one caller is looked for after every tool that it uses.
    await db.schema.createIndex('agents_actor').on('agents').columns(['workspace_id', 'actor', 'last_seen_at']).execute();
    await db.schema.createIndex('client_runs_seen').on('client_runs').column('last_seen_at').execute();
  },
};
