import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Agents that the server starts, their reviews, and the settings that bound them. */
export const reviews: Migration = {
  number: 10,
  name: 'reviews',
  async up(db) {
    await db.schema
      .createTable('instances')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('type', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('agent', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text')
      .addColumn('agent_id', 'text', (c) => c.notNull())
      .addColumn('token_id', 'text')
      .addColumn('machine', 'text', (c) => c.notNull())
      .addColumn('repository', 'text', (c) => c.notNull())
      .addColumn('worktree_path', 'text', (c) => c.notNull())
      .addColumn('branch_name', 'text', (c) => c.notNull())
      .addColumn('base_branch', 'text', (c) => c.notNull())
      .addColumn('base_commit', 'text')
      .addColumn('session_name', 'text', (c) => c.notNull())
      .addColumn('session_kind', 'text')
      .addColumn('pid', 'integer')
      .addColumn('process_start', 'bigint')
      .addColumn('issue_number', 'integer')
      .addColumn('prompt', 'text', (c) => c.notNull())
      .addColumn('parent_instance_id', 'text')
      .addColumn('review_iteration', 'integer')
      .addColumn('failed_reviews', 'integer', (c) => c.notNull())
      .addColumn('pr_number', 'integer')
      .addColumn('pr_url', 'text')
      .addColumn('news', 'text')
      .addColumn('status_reason', 'text')
      .addColumn('kept_reason', 'text')
      .addColumn('backup_ref', 'text')
      .addColumn('created_by', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('last_activity', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .addColumn('step', 'text')
      .addColumn('step_until', 'bigint')
      .addColumn('step_by', 'text')
      .addColumn('step_data', 'text')
      .addPrimaryKeyConstraint('instances_key', ['workspace_id', 'id'])
      .execute();
    await sql`create index instances_under_way on instances (step_until) where step is not null`.execute(db);
    await sql`create index instances_running on instances (workspace_id, id) where ended_at is null`.execute(db);
    // A path is the same in every workspace: one instance at a time works in it.
    await sql`create unique index instances_place on instances (machine, worktree_path) where ended_at is null`.execute(db);

    await db.schema
      .createTable('instance_relationships')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('parent_instance', 'text', (c) => c.notNull())
      .addColumn('child_instance', 'text', (c) => c.notNull())
      .addColumn('relationship_type', 'text', (c) => c.notNull())
      .addColumn('review_iteration', 'integer', (c) => c.notNull())
      .addColumn('outcome', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('instance_relationships_key', ['workspace_id', 'parent_instance', 'child_instance', 'relationship_type'])
      .addUniqueConstraint('instance_relationships_iteration', ['workspace_id', 'parent_instance', 'relationship_type', 'review_iteration'])
      .execute();
    await db.schema.createIndex('instance_relationships_child').on('instance_relationships').columns(['workspace_id', 'child_instance']).execute();

    await db.schema
      .createTable('review_feedback')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('review_instance', 'text', (c) => c.notNull())
      .addColumn('coding_instance', 'text', (c) => c.notNull())
      .addColumn('review_iteration', 'integer', (c) => c.notNull())
      .addColumn('feedback', 'text', (c) => c.notNull())
      .addColumn('feedback_type', 'text', (c) => c.notNull())
      .addColumn('priority', 'text', (c) => c.notNull())
      .addColumn('actionable_items', 'text', (c) => c.notNull())
      .addColumn('git_commit_hash', 'text')
      .addColumn('delivered', 'text')
      .addColumn('reason', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('step', 'text')
      .addColumn('step_until', 'bigint')
      .addColumn('step_by', 'text')
      .addPrimaryKeyConstraint('review_feedback_key', ['workspace_id', 'id'])
      // A review says its word once.
      .addUniqueConstraint('review_feedback_once', ['workspace_id', 'review_instance'])
      .execute();
    await db.schema.createIndex('review_feedback_for').on('review_feedback').columns(['workspace_id', 'coding_instance', 'id']).execute();
    await sql`create index review_feedback_under_way on review_feedback (step_until) where step is not null`.execute(db);

    await db.schema
      .createTable('settings')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('key', 'text', (c) => c.notNull())
      .addColumn('value', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_by', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('settings_key', ['workspace_id', 'key'])
      .execute();
  },
};
