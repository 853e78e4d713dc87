import { z } from 'zod';
import { readJson, view } from '../../../storage/rows.ts';
import type { CheckpointRow, WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import { type CheckpointView, checkpointView, taskView, type WorkflowTaskView, workflowPlan, workflowSummary, workflowView } from './contract.ts';
import { shownStatus } from './lifecycle.ts';

const stringsSchema = z.array(z.string());
const jsonSchema = z.record(z.string(), z.unknown());

export const readStrings = (text: string): string[] => readJson(stringsSchema, text);
export const readRecord = (text: string | null): Record<string, unknown> | null => (text === null ? null : readJson(jsonSchema, text));

export const planOf = ({ plan }: Pick<WorkflowRow, 'plan'>): z.output<typeof workflowPlan> | null => (plan === null ? null : readJson(workflowPlan, plan));

/** The columns that lists read. The source is left out, because it may be long. */
export const SUMMARISED = [
  'id',
  'name',
  'status',
  'source_type',
  'source_ref',
  'repository_path',
  'plan',
  'max_parallel_tasks',
  'auto_create_workspaces',
  'created_at',
  'updated_at',
  'started_at',
  'finished_at',
] as const satisfies readonly (keyof WorkflowRow)[];

export type SummarisedWorkflow = Pick<WorkflowRow, (typeof SUMMARISED)[number]>;

export const summariseWorkflow = (row: SummarisedWorkflow): z.output<typeof workflowSummary> =>
  view(workflowSummary, row, {
    plan_summary: planOf(row)?.summary ?? null,
    auto_create_workspaces: row.auto_create_workspaces === 1,
  });

export const viewWorkflow = (row: WorkflowRow): z.output<typeof workflowView> =>
  view(workflowView, row, { plan_summary: planOf(row)?.summary ?? null, auto_create_workspaces: row.auto_create_workspaces === 1 });

export const viewTask = (row: WorkflowTaskRow): WorkflowTaskView =>
  view(taskView, row, {
    status: shownStatus(row),
    files_likely_affected: readStrings(row.files),
    context: readRecord(row.context) ?? {},
    // In answers, `workspace_id` is the id of a worktree. In the row, the column with that name is the id of the workspace.
    workspace_id: row.worktree_id,
    checkpoint_count: row.last_checkpoint,
  });

export const viewCheckpoint = (row: CheckpointRow): CheckpointView => view(checkpointView, row, {});

/** Returns an object with the number of omitted items, or an empty object if none were omitted. */
export const fieldIfMore = <K extends string>(field: K, more: number): Partial<Record<K, number>> => (more > 0 ? ({ [field]: more } as Record<K, number>) : {});
