import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Runs of agents, the machines and working trees they report from, and the contexts they publish. */
export const sessions: Migration = {
  number: 4,
  name: 'sessions',
  async up(db) {
    await db.schema
      .createTable('agent_sessions')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('agent_type', 'text')
      .addColumn('agent_name', 'text')
      .addColumn('provider', 'text')
      .addColumn('model', 'text')
      .addColumn('repo', 'text')
      .addColumn('branch', 'text')
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('last_seen_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('agent_sessions_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('agent_sessions_seen').on('agent_sessions').columns(['workspace_id', 'last_seen_at']).execute();
    await db.schema
      .createIndex('agent_sessions_open')
      .on('agent_sessions')
      .columns(['workspace_id', 'last_seen_at'])
      .where(sql.ref('ended_at'), 'is', null)
      .execute();

    await db.schema
      .createTable('session_activity')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('text', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('session_activity_key', ['workspace_id', 'session_id', 'id'])
      .execute();

    await db.schema
      .createTable('machines')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('companion_version', 'text')
      .addColumn('last_heartbeat_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('machines_key', ['workspace_id', 'token_id'])
      .execute();

    await db.schema
      .createTable('registered_repos')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('position', 'integer', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('repo', 'text', (c) => c.notNull())
      .addColumn('path', 'text')
      .addColumn('branch', 'text')
      .addPrimaryKeyConstraint('registered_repos_key', ['workspace_id', 'token_id', 'position'])
      .execute();

    await db.schema
      .createTable('local_worktrees')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('repo', 'text', (c) => c.notNull())
      .addColumn('branch', 'text', (c) => c.notNull())
      .addColumn('worktree', 'text', (c) => c.notNull())
      .addColumn('head', 'text')
      .addColumn('dirty_files', 'text', (c) => c.notNull())
      .addColumn('unpushed_files', 'text', (c) => c.notNull())
      .addColumn('diff_hashes', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('local_worktrees_key', ['workspace_id', 'id'])
      .addUniqueConstraint('local_worktrees_place', ['workspace_id', 'repo', 'developer_id', 'branch', 'worktree'])
      .execute();
    await db.schema.createIndex('local_worktrees_graph').on('local_worktrees').columns(['workspace_id', 'repo', 'updated_at']).execute();
    await db.schema.createIndex('local_worktrees_age').on('local_worktrees').columns(['workspace_id', 'developer_id', 'updated_at']).execute();

    await db.schema
      .createTable('repo_commits')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('worktree_id', 'text', (c) => c.notNull())
      .addColumn('position', 'integer', (c) => c.notNull())
      .addColumn('repo', 'text', (c) => c.notNull())
      .addColumn('sha', 'text', (c) => c.notNull())
      .addColumn('title', 'text')
      .addPrimaryKeyConstraint('repo_commits_key', ['workspace_id', 'worktree_id', 'position'])
      .execute();

    await db.schema
      .createTable('session_contexts')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('developer_id', 'text', (c) => c.notNull())
      .addColumn('session_id', 'text')
      .addColumn('repo', 'text', (c) => c.notNull())
      .addColumn('branch', 'text')
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('summary', 'text', (c) => c.notNull())
      .addColumn('files_touched', 'text', (c) => c.notNull())
      .addColumn('next_actions', 'text', (c) => c.notNull())
      .addColumn('blockers', 'text', (c) => c.notNull())
      .addColumn('task_ids', 'text', (c) => c.notNull())
      .addColumn('published_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('superseded_by', 'text')
      .addColumn('revoked_at', 'bigint')
      .addPrimaryKeyConstraint('session_contexts_key', ['workspace_id', 'id'])
      .execute();
    await db.schema
      .createIndex('session_contexts_standing')
      .on('session_contexts')
      .columns(['workspace_id', 'expires_at'])
      .where(sql<boolean>`superseded_by is null and revoked_at is null`)
      .execute();
  },
};
