import type { Migration } from '../migrate.ts';

/** The gateway to other MCP servers: what of theirs is known and approved, calls that wait for a person, and grants with a rate. */
export const gateway: Migration = {
  number: 8,
  name: 'gateway',
  async up(db) {
    // The times of the last calls by a grant that has a rate.
    await db.schema.alterTable('grants').addColumn('recent', 'text').execute();

    await db.schema
      .createTable('upstreams')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('facts', 'text', (c) => c.notNull())
      .addColumn('first_seen_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('upstreams_key', ['workspace_id', 'name'])
      .execute();

    await db.schema
      .createTable('upstream_pins')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('server', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('exposed', 'text', (c) => c.notNull())
      .addColumn('approved', 'text')
      .addColumn('approved_hash', 'text')
      .addColumn('approved_at', 'bigint')
      .addColumn('approved_by', 'text')
      .addColumn('seen', 'text')
      .addColumn('seen_hash', 'text')
      .addColumn('seen_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('upstream_pins_key', ['workspace_id', 'server', 'kind', 'name'])
      .execute();

    await db.schema
      .createTable('approvals')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('noun', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('server', 'text')
      .addColumn('arguments', 'text')
      .addColumn('arguments_sha256', 'text', (c) => c.notNull())
      .addColumn('grant_id', 'text', (c) => c.notNull())
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text')
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('request_id', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('deadline_at', 'bigint', (c) => c.notNull())
      .addColumn('decided_at', 'bigint')
      .addColumn('decided_by', 'text')
      .addColumn('decided_through', 'text')
      .addColumn('reason', 'text')
      .addColumn('used_at', 'bigint')
      .addPrimaryKeyConstraint('approvals_key', ['workspace_id', 'id'])
      .execute();
    // A repeated call finds the one that still waits; the sweep looks over all workspaces for those past their deadline.
    await db.schema.createIndex('approvals_same_call').on('approvals').columns(['workspace_id', 'token_id', 'arguments_sha256', 'status']).execute();
    await db.schema.createIndex('approvals_due').on('approvals').columns(['status', 'deadline_at']).execute();

    await db.schema
      .createTable('call_rounds')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('token_sha256', 'text', (c) => c.notNull())
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('noun', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('arguments_sha256', 'text', (c) => c.notNull())
      .addColumn('grant_id', 'text', (c) => c.notNull())
      .addColumn('approval_id', 'text')
      .addColumn('request_state', 'text')
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('call_rounds_key', ['workspace_id', 'token_sha256'])
      .execute();
    await db.schema.createIndex('call_rounds_due').on('call_rounds').columns(['expires_at']).execute();
  },
};
