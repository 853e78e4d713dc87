import type { Migration } from '../migrate.ts';

/** What agents used, and by which prices it is counted. */
export const telemetry: Migration = {
  number: 5,
  name: 'telemetry',
  async up(db) {
    await db.schema
      .createTable('agent_spans')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text')
      .addColumn('agent_type', 'text')
      .addColumn('source', 'text', (c) => c.notNull())
      .addColumn('model', 'text')
      .addColumn('provider', 'text')
      .addColumn('input_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cached_input_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cache_creation_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cache_creation_1h_tokens', 'bigint', (c) => c.notNull())
      .addColumn('output_tokens', 'bigint', (c) => c.notNull())
      .addColumn('reasoning_tokens', 'bigint', (c) => c.notNull())
      .addColumn('total_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cost_micros', 'bigint')
      .addColumn('price_version', 'text')
      .addColumn('submitted_micros', 'bigint')
      .addColumn('cost_mismatch', 'integer', (c) => c.notNull())
      .addColumn('verified', 'integer', (c) => c.notNull())
      .addColumn('payload_sha256', 'text', (c) => c.notNull())
      .addColumn('ingested_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('agent_spans_key', ['workspace_id', 'id'])
      .execute();
    // With the id, by which they are read: SQLite would rather go through all spans in that order than sort a few.
    await db.schema.createIndex('agent_spans_payload').on('agent_spans').columns(['workspace_id', 'developer_id', 'payload_sha256', 'id']).execute();
    await db.schema.createIndex('agent_spans_time').on('agent_spans').columns(['workspace_id', 'ingested_at']).execute();

    await db.schema
      .createTable('model_prices')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('version', 'integer', (c) => c.notNull())
      .addColumn('model', 'text', (c) => c.notNull())
      .addColumn('input', 'bigint')
      .addColumn('cached_input', 'bigint')
      .addColumn('cache_write', 'bigint')
      .addColumn('cache_write_1h', 'bigint')
      .addColumn('output', 'bigint')
      .addColumn('set_by', 'text', (c) => c.notNull())
      .addColumn('set_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('model_prices_key', ['workspace_id', 'version'])
      .execute();
  },
};
