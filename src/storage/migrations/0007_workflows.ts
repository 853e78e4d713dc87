import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Durable workflows: plans, task graphs, claims, checkpoints, worktrees, templates, agents and their messages. */
export const workflows: Migration = {
  number: 7,
  name: 'workflows',
  async up(db) {
    await db.schema
      .createTable('repositories')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('path', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('repositories_key', ['workspace_id', 'id'])
      .addUniqueConstraint('repositories_path', ['workspace_id', 'path'])
      .execute();

    await db.schema
      .createTable('agents')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('runtime', 'text', (c) => c.notNull())
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('capabilities', 'text', (c) => c.notNull())
      .addColumn('current_task_id', 'text')
      .addColumn('workspace_path', 'text')
      .addColumn('metadata', 'text')
      .addColumn('developer_id', 'text')
      .addColumn('token_id', 'text', (c) => c.notNull())
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('registered_at', 'bigint', (c) => c.notNull())
      .addColumn('last_seen_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('agents_key', ['workspace_id', 'id'])
      .execute();
    // The sweep looks over all workspaces for those that fell silent.
    await db.schema.createIndex('agents_silent').on('agents').columns(['status', 'last_seen_at']).execute();
    await db.schema.createIndex('agents_listed').on('agents').columns(['workspace_id', 'status', 'id']).execute();

    await db.schema
      .createTable('workflows')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('status_reason', 'text')
      .addColumn('source_type', 'text', (c) => c.notNull())
      .addColumn('source_ref', 'text')
      .addColumn('source_content', 'text', (c) => c.notNull())
      .addColumn('repository_path', 'text', (c) => c.notNull())
      .addColumn('plan', 'text')
      .addColumn('max_parallel_tasks', 'integer', (c) => c.notNull())
      .addColumn('auto_create_workspaces', 'integer', (c) => c.notNull())
      .addColumn('developer_id', 'text')
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('started_at', 'bigint')
      .addColumn('finished_at', 'bigint')
      .addPrimaryKeyConstraint('workflows_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('workflows_status').on('workflows').columns(['workspace_id', 'status', 'id']).execute();
    await db.schema.createIndex('workflows_repository').on('workflows').columns(['workspace_id', 'repository_path', 'id']).execute();

    await db.schema
      .createTable('workflow_tasks')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('workflow_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('description', 'text', (c) => c.notNull())
      .addColumn('sequence', 'integer', (c) => c.notNull())
      .addColumn('parallel_group', 'text')
      .addColumn('estimated_complexity', 'text')
      .addColumn('files', 'text', (c) => c.notNull())
      .addColumn('capabilities', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('open_dependencies', 'integer', (c) => c.notNull())
      .addColumn('plan', 'text')
      .addColumn('context', 'text')
      .addColumn('outcome', 'text')
      .addColumn('outcome_detail', 'text')
      .addColumn('error', 'text')
      .addColumn('assigned_agent_id', 'text')
      .addColumn('claimed_at', 'bigint')
      .addColumn('fence', 'integer', (c) => c.notNull())
      .addColumn('completed_by', 'text')
      .addColumn('worktree_id', 'text')
      .addColumn('question_id', 'text')
      .addColumn('resume_status', 'text')
      .addColumn('last_checkpoint', 'integer', (c) => c.notNull())
      .addColumn('indexed', 'integer', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('started_at', 'bigint')
      .addColumn('finished_at', 'bigint')
      .addPrimaryKeyConstraint('workflow_tasks_key', ['workspace_id', 'id'])
      .execute();
    const taskIndex = (name: string, columns: string[]) => db.schema.createIndex(name).on('workflow_tasks').columns(columns).execute();
    // What is next: of 10,000 tasks those that wait for nothing, in their order, without looking at the others.
    await taskIndex('workflow_tasks_next', ['workspace_id', 'workflow_id', 'status', 'open_dependencies', 'sequence', 'name']);
    await taskIndex('workflow_tasks_sequence', ['workspace_id', 'workflow_id', 'sequence', 'status']);
    await taskIndex('workflow_tasks_name', ['workspace_id', 'workflow_id', 'name']);
    await taskIndex('workflow_tasks_group', ['workspace_id', 'workflow_id', 'parallel_group', 'sequence']);
    await taskIndex('workflow_tasks_holder', ['workspace_id', 'assigned_agent_id']);
    await db.schema
      .createIndex('workflow_tasks_claimed')
      .on('workflow_tasks')
      .columns(['workspace_id', 'workflow_id'])
      .where(sql.ref('assigned_agent_id'), 'is not', null)
      .execute();
    await taskIndex('workflow_tasks_indexed', ['indexed', 'workspace_id']);
    await db.schema
      .createIndex('workflow_tasks_worktree')
      .on('workflow_tasks')
      .columns(['workspace_id', 'worktree_id'])
      .where(sql.ref('worktree_id'), 'is not', null)
      .execute();

    await db.schema
      .createTable('workflow_dependencies')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('workflow_id', 'text', (c) => c.notNull())
      .addColumn('task_id', 'text', (c) => c.notNull())
      .addColumn('depends_on', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('workflow_dependencies_key', ['workspace_id', 'task_id', 'depends_on'])
      .execute();
    await db.schema.createIndex('workflow_dependents').on('workflow_dependencies').columns(['workspace_id', 'depends_on', 'task_id']).execute();
    await db.schema.createIndex('workflow_dependencies_all').on('workflow_dependencies').columns(['workspace_id', 'workflow_id']).execute();

    await db.schema
      .createTable('checkpoints')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('task_id', 'text', (c) => c.notNull())
      .addColumn('sequence', 'integer', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('type', 'text', (c) => c.notNull())
      .addColumn('summary', 'text', (c) => c.notNull())
      .addColumn('detail', 'text')
      .addColumn('files_changed', 'text', (c) => c.notNull())
      .addColumn('agent_id', 'text')
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('checkpoints_key', ['workspace_id', 'task_id', 'sequence'])
      .execute();

    await db.schema
      .createTable('worktrees')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('workflow_id', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('path', 'text', (c) => c.notNull())
      .addColumn('branch', 'text', (c) => c.notNull())
      .addColumn('base_branch', 'text')
      .addColumn('base_commit', 'text')
      .addColumn('merge_commit', 'text')
      .addColumn('repository_path', 'text', (c) => c.notNull())
      .addColumn('made_by_server', 'integer', (c) => c.notNull())
      .addColumn('step', 'text')
      .addColumn('step_until', 'bigint')
      .addColumn('task_id', 'text')
      .addColumn('fence', 'integer')
      .addColumn('kept_reason', 'text')
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('closed_at', 'bigint')
      .addPrimaryKeyConstraint('worktrees_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('worktrees_workflow').on('worktrees').columns(['workspace_id', 'workflow_id', 'status']).execute();
    await db.schema.createIndex('worktrees_path').on('worktrees').columns(['workspace_id', 'path']).execute();
    await db.schema.createIndex('worktrees_task').on('worktrees').columns(['workspace_id', 'task_id']).execute();
    await db.schema.createIndex('worktrees_step').on('worktrees').columns(['step_until']).execute();

    await db.schema
      .createTable('workflow_templates')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('description', 'text')
      .addColumn('definition', 'text', (c) => c.notNull())
      .addColumn('from_workflow_id', 'text')
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('workflow_templates_key', ['workspace_id', 'id'])
      .addUniqueConstraint('workflow_templates_name', ['workspace_id', 'name'])
      .execute();

    await db.schema
      .createTable('messages')
      .addColumn('workspace_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('thread_id', 'text', (c) => c.notNull())
      .addColumn('reply_to_id', 'text')
      .addColumn('sender_id', 'text', (c) => c.notNull())
      .addColumn('recipient_id', 'text', (c) => c.notNull())
      .addColumn('message_type', 'text', (c) => c.notNull())
      .addColumn('subject', 'text')
      .addColumn('body', 'text', (c) => c.notNull())
      .addColumn('priority', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('workflow_id', 'text')
      .addColumn('task_id', 'text')
      .addColumn('actor', 'text', (c) => c.notNull())
      .addColumn('sent_at', 'bigint', (c) => c.notNull())
      .addColumn('delivered_at', 'bigint')
      .addColumn('read_at', 'bigint')
      .addColumn('archived_at', 'bigint')
      .addColumn('answered_at', 'bigint')
      .addColumn('expires_at', 'bigint')
      .addPrimaryKeyConstraint('messages_key', ['workspace_id', 'id'])
      .execute();
    await db.schema.createIndex('messages_inbox').on('messages').columns(['workspace_id', 'recipient_id', 'status', 'sent_at', 'id']).execute();
    await db.schema.createIndex('messages_thread').on('messages').columns(['workspace_id', 'thread_id', 'sent_at', 'id']).execute();
    // Questions that ran out of time, in all workspaces.
    await db.schema.createIndex('messages_expiry').on('messages').columns(['recipient_id', 'status', 'expires_at']).execute();
  },
};
