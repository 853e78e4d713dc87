import { z } from 'zod';
import { absolutePath } from '../../../kernel/contract.ts';
import type { CheckpointRow, WorkflowDependencyRow, WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import { count, fits, flag, idOf, json, oneOf, type RowRules, rowRule } from '../../../storage/transfer/row-rules.ts';
import { CHECKPOINT_TYPES, COMPLEXITIES, SOURCE_TYPES } from './contract.ts';
import { TASK_STATUSES, WORKFLOW_STATUSES } from './lifecycle.ts';

const record = json(z.record(z.string(), z.unknown()));
const strings = json(z.array(z.string()));

export const workflowRows = {
  workflows: rowRule<WorkflowRow>({
    id: idOf('wf'),
    status: oneOf(...WORKFLOW_STATUSES),
    source_type: oneOf(...SOURCE_TYPES),
    repository_path: fits(absolutePath),
    plan: record,
    max_parallel_tasks: count,
    auto_create_workspaces: flag,
  }),
  workflow_tasks: rowRule<WorkflowTaskRow>({
    id: idOf('tk'),
    workflow_id: idOf('wf'),
    estimated_complexity: oneOf(...COMPLEXITIES),
    files: strings,
    capabilities: strings,
    status: oneOf(...TASK_STATUSES, 'removed'),
    open_dependencies: count,
    plan: record,
    context: record,
    outcome_detail: record,
    assigned_agent_id: idOf('ag'),
    fence: count,
    worktree_id: idOf('ws'),
    resume_status: oneOf('planning', 'in_progress'),
    indexed: flag,
  }),
  workflow_dependencies: rowRule<WorkflowDependencyRow>({ workflow_id: idOf('wf'), task_id: idOf('tk'), depends_on: idOf('tk') }),
  checkpoints: rowRule<CheckpointRow>({ task_id: idOf('tk'), id: idOf('cp'), type: oneOf(...CHECKPOINT_TYPES), detail: record, files_changed: strings }),
} satisfies Partial<RowRules>;
