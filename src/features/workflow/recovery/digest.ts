import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { countByStatus, isOneOf, OPEN_WORKFLOW, shownStatus, type WorkflowRow } from '../workflows/index.ts';

/** Reads the state of the workflow for its summary. Each list starts with the most important entries. */
export async function readDigest(db: Db, workflow: WorkflowRow, viewer: Principal) {
  return {
    byStatus: await countByStatus(db, workflow),
    questions: await openQuestions(db, workflow),
    current: await takenUp(db, workflow, viewer),
    next: isOneOf(OPEN_WORKFLOW, workflow.status) ? await freeTasks(db, workflow) : [],
    failed: await ended(db, workflow, 'failed', MAX_ITEMS.failed),
    recent: await ended(db, workflow, 'completed', MAX_ITEMS.recent),
  };
}

export type Digest = Awaited<ReturnType<typeof readDigest>>;

/** Maximum number of entries in each list. The total numbers are in the progress. */
const MAX_ITEMS = { current: 50, next: 10, failed: 20, recent: 10, questions: 20 };

const ofWorkflow = (db: Db, { workspace_id, id }: WorkflowRow) =>
  db.selectFrom('workflow_tasks').where('workflow_tasks.workspace_id', '=', workspace_id).where('workflow_tasks.workflow_id', '=', id);

const TAKEN_UP = ['planning', 'in_progress', 'paused'] as const;

/** Returns tasks in progress, most recently changed first. Other people do not see the names of a private developer's agents. */
async function takenUp(db: Db, workflow: WorkflowRow, viewer: Principal) {
  const { show } = await viewerOf(db, viewer);
  const rows = await ofWorkflow(db, workflow)
    .leftJoin('agents', (join) =>
      join.onRef('agents.workspace_id', '=', 'workflow_tasks.workspace_id').onRef('agents.id', '=', 'workflow_tasks.assigned_agent_id'),
    )
    .select(['workflow_tasks.id', 'workflow_tasks.name', 'workflow_tasks.status', 'workflow_tasks.open_dependencies', 'workflow_tasks.assigned_agent_id'])
    .select(['agents.name as agent_name', 'agents.developer_id'])
    .where('workflow_tasks.status', 'in', TAKEN_UP)
    .orderBy('workflow_tasks.updated_at', 'desc')
    .orderBy('workflow_tasks.id', 'desc')
    .limit(MAX_ITEMS.current)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    status: shownStatus(row),
    agent_id: row.assigned_agent_id,
    agent_name: show(row.developer_id, row.agent_name),
  }));
}

async function freeTasks(db: Db, workflow: WorkflowRow) {
  return await ofWorkflow(db, workflow)
    .select(['id', 'name'])
    .where('status', '=', 'pending')
    .where('open_dependencies', '=', 0)
    .where('assigned_agent_id', 'is', null)
    .orderBy('sequence')
    .orderBy('name')
    .limit(MAX_ITEMS.next)
    .execute();
}

async function ended(db: Db, workflow: WorkflowRow, status: 'completed' | 'failed', limit: number) {
  return await ofWorkflow(db, workflow)
    .select(['id', 'name', 'outcome', 'error'])
    .where('status', '=', status)
    // Completed tasks are sorted by `finished_at`, because a late checkpoint changes `updated_at`. Failed tasks are sorted by `updated_at`, because
    // they have no `finished_at`.
    .orderBy(status === 'completed' ? 'finished_at' : 'updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Returns open questions to people. A task that waits for an answer is paused, and its row contains the id of the question. */
async function openQuestions(db: Db, workflow: WorkflowRow) {
  return await ofWorkflow(db, workflow)
    .innerJoin('messages', (join) =>
      join.onRef('messages.workspace_id', '=', 'workflow_tasks.workspace_id').onRef('messages.id', '=', 'workflow_tasks.question_id'),
    )
    .select(['messages.id', 'messages.body', 'messages.subject', 'workflow_tasks.id as task_id'])
    .where('workflow_tasks.status', '=', 'paused')
    .orderBy('messages.sent_at', 'desc')
    .orderBy('messages.id', 'desc')
    .limit(MAX_ITEMS.questions)
    .execute();
}
