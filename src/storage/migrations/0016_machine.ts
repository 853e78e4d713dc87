import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Whom the operator of the server lets run agents on its machine. The first developer of the default workspace is the operator's own account. */
export const machine: Migration = {
  number: 16,
  name: 'machine',
  async up(db) {
    await db.schema
      .createTable('machine_permissions')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('given_at', 'bigint', (c) => c.notNull())
      .addColumn('given_by', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('machine_permissions_key', ['workspace_id', 'developer_id'])
      .execute();
    await sql`insert into machine_permissions (workspace_id, developer_id, given_at, given_by)
      select workspace_id, id, created_at, 'operator' from developers where workspace_id = 'ws_default' and role = 'admin' order by id limit 1`.execute(db);
  },
};
