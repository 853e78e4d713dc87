import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { addTask } from './add-task.ts';
import { changeParallelism, changeStatus, type WorkflowPorts } from './change-workflow.ts';
import {
  addTaskContract,
  checkDependencies,
  createWorkflowContract,
  getWorkflow,
  listWorkflows,
  nextTasks,
  progressOf,
  removeTaskContract,
  setParallelism,
  setPlanContract,
  updateWorkflowStatus,
} from './contract.ts';
import { createWorkflow } from './create-workflow.ts';
import { dependenciesWithOutcomes } from './graph-store.ts';
import { isSatisfied, shownStatus } from './lifecycle.ts';
import { readNextTasks } from './next.ts';
import { pageOfTasks, pageOfWorkflows } from './pages.ts';
import { allComplete, progress } from './progress.ts';
import { removeTask } from './remove-task.ts';
import { setPlan } from './set-plan.ts';
import { requireTask, requireWorkflow } from './store.ts';
import { summariseWorkflow, viewWorkflow } from './views.ts';

export const workflowTools = (ports: WorkflowPorts): Implementation[] => [...lifecycle(ports), ...planning, ...queries];

const lifecycle = (ports: WorkflowPorts): Implementation[] => [
  implement(createWorkflowContract, {
    write: async (tx, input, ctx) => {
      const { id, name, max_parallel_tasks, repository_path } = await createWorkflow(tx, ctx, input);
      return ok({ id, name, status: 'planning' as const, max_parallel_tasks, repository_path });
    },
  }),
  implement(getWorkflow, {
    read: async ({ id, include_tasks, include_task_summaries: summaries, task_limit: limit, task_offset: offset }, { reader, workspace }) => {
      const row = await requireWorkflow(reader, workspace, id);
      if (!include_tasks) return ok(viewWorkflow(row));
      const { tasks, total } = await pageOfTasks(reader, workspace, id, { summaries, limit, offset });
      return ok({ ...viewWorkflow(row), tasks, task_total: total });
    },
  }),
  implement(listWorkflows, {
    read: async (filter, { reader, workspace }) => {
      const { rows, total } = await pageOfWorkflows(reader, workspace, filter);
      return ok({ workflows: rows.map(summariseWorkflow), total });
    },
  }),
  implement(updateWorkflowStatus, {
    write: async (tx, { id, status, reason }, ctx) => {
      const workflow = await requireWorkflow(tx.db, tx.workspace, id);
      return ok({ success: true as const, changed: await changeStatus(tx, ctx, workflow, status, reason, ports) });
    },
  }),
  implement(setParallelism, {
    write: async (tx, { id, max_parallel_tasks, auto_create_workspaces }, ctx) => {
      await changeParallelism(tx, ctx, await requireWorkflow(tx.db, tx.workspace, id), { max_parallel_tasks, auto_create_workspaces });
      return ok({ success: true as const });
    },
  }),
];

const planning: Implementation[] = [
  implement(setPlanContract, {
    write: async (tx, { id, plan }, ctx) => {
      const { tasks, groups } = await setPlan(tx, ctx, await requireWorkflow(tx.db, tx.workspace, id), plan);
      return ok({ workflow_id: id, tasks_created: tasks.length, parallelizable_groups: groups, status: 'ready' as const });
    },
  }),
  implement(addTaskContract, {
    write: async (tx, input, ctx) => {
      const row = await addTask(tx, ctx, await requireWorkflow(tx.db, tx.workspace, input.workflow_id, 'workflow_id'), input);
      return ok({ task_id: row.id, workflow_id: row.workflow_id, sequence: row.sequence, status: shownStatus(row) });
    },
  }),
  implement(removeTaskContract, {
    write: async (tx, { workflow_id, task_id, reason }, ctx) => {
      const workflow = await requireWorkflow(tx.db, tx.workspace, workflow_id, 'workflow_id');
      const task = await requireTask(tx.db, tx.workspace, task_id);
      return ok({ success: true as const, rewired: await removeTask(tx, ctx, workflow, task, reason) });
    },
  }),
];

const queries: Implementation[] = [
  implement(nextTasks, {
    read: async ({ workflow_id, include_failed, limit }, { reader, workspace, clock }) => {
      const workflow = await requireWorkflow(reader, workspace, workflow_id, 'workflow_id');
      const next = await readNextTasks(reader, workflow, clock.now(), { includeFailed: include_failed, limit });
      return ok({ ...next, all_complete: await allComplete(reader, workflow) });
    },
  }),
  implement(progressOf, {
    read: async ({ workflow_id }, { reader, workspace, clock }) => {
      const workflow = await requireWorkflow(reader, workspace, workflow_id, 'workflow_id');
      return ok(await progress(reader, workflow, clock.now()));
    },
  }),
  implement(checkDependencies, {
    read: async ({ task_id }, { reader, workspace }) => {
      const task = await requireTask(reader, workspace, task_id);
      const dependencies = await dependenciesWithOutcomes(reader, workspace, task.id);
      const pending = dependencies.filter(({ status }) => !isSatisfied(status)).map((row) => ({ id: row.id, name: row.name, status: shownStatus(row) }));
      const completed = dependencies
        .filter(({ status }) => isSatisfied(status))
        .map(({ id, name, outcome, status }) => ({ id, name, outcome: outcome ?? (status === 'skipped' ? 'Skipped.' : '') }));
      return ok({ satisfied: pending.length === 0, pending, completed });
    },
  }),
];
