import { DEFAULT_WORKSPACE_ID as workspace_id } from '../../src/kernel/ids.ts';
import { newId } from '../../src/storage/rows.ts';
import type { Database } from '../../src/storage/schema-rows.ts';
import { type Moment, STEP_MS } from './history.ts';

/** The history contains one workflow for this many tasks. */
export const WORKFLOW_EVERY = 1_000;
const STEPS = 100;
const CHECKPOINTS = 3;

/** A completed workflow. */
export function workflowRows({ n, time, agent: { developerId, actor }, task }: Moment) {
  const workflow_id = newId('wf', time);
  const over = Math.floor(time + 20 * STEP_MS);
  const ids = Array.from({ length: STEPS }, () => newId('tk', time));
  const workflow: Database['workflows'] = {
    workspace_id,
    id: workflow_id,
    name: task.title,
    status: 'completed',
    status_reason: null,
    source_type: 'prompt',
    source_ref: null,
    source_content: task.scope,
    repository_path: '/srv/app',
    plan: JSON.stringify({ summary: task.title, approach: task.scope, risks: [], assumptions: [] }),
    max_parallel_tasks: 4,
    auto_create_workspaces: 0,
    developer_id: developerId,
    actor,
    created_at: time,
    updated_at: over,
    started_at: time,
    finished_at: over,
  };
  const steps = ids.map((id, place): Database['workflow_tasks'] => ({
    workspace_id,
    id,
    workflow_id,
    name: `Step ${n}.${place}`,
    description: task.scope,
    sequence: place,
    parallel_group: null,
    estimated_complexity: null,
    files: '[]',
    capabilities: '[]',
    status: 'completed',
    open_dependencies: 0,
    plan: null,
    context: null,
    outcome: 'Done and merged.',
    outcome_detail: null,
    error: null,
    assigned_agent_id: null,
    claimed_at: null,
    fence: 1,
    completed_by: null,
    worktree_id: null,
    question_id: null,
    resume_status: null,
    last_checkpoint: CHECKPOINTS,
    indexed: 1,
    created_at: time,
    updated_at: over,
    started_at: time,
    finished_at: over,
  }));
  const dependencies = ids.slice(1).map((task_id, place) => ({ workspace_id, workflow_id, task_id, depends_on: ids[place] as string }));
  const checkpoints = ids.flatMap((task_id) =>
    Array.from({ length: CHECKPOINTS }, (_, place) => ({
      workspace_id,
      task_id,
      sequence: place + 1,
      id: newId('cp', time),
      type: 'progress' as const,
      summary: task.title,
      detail: null,
      files_changed: '[]',
      agent_id: null,
      actor,
      created_at: time,
    })),
  );
  return { workflows: [workflow], workflow_tasks: steps, workflow_dependencies: dependencies, checkpoints };
}
