import { z } from 'zod';
import { id, repoPath, text, title } from '../../../kernel/fields.ts';

export const SOURCE_TYPES = ['prompt', 'github_issue', 'linear', 'jira', 'custom'] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];
export const COMPLEXITIES = ['low', 'medium', 'high'] as const;
export const CHECKPOINT_TYPES = ['plan', 'progress', 'decision', 'error', 'recovery', 'complete', 'replan'] as const;

/** Input fields that several tools of the workflow contract share. */

export const MOST_TASKS = 10_000;
export const MOST_PARALLEL = 1_000;
const JSON_LIMIT = 64 * 1024;

export const name = title.max(200);
export const description = z.string().max(8_000);

/** Free JSON of the agent's own, bounded. */
export const details = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= JSON_LIMIT, { error: `expected at most ${JSON_LIMIT} characters of JSON` });

export const maxParallel = z.int().min(1).max(MOST_PARALLEL).describe('How many tasks may be claimed at once. 1: one after another.');

export const files = z.array(repoPath).max(500);
export const capabilities = z.array(title.max(60)).max(20);

export const sequence = z.int().min(0).max(1_000_000);

/** A task as a plan or a template writes it. Dependencies are names of other tasks of the same plan. */
export const plannedTaskFields = {
  name,
  description,
  sequence: sequence.describe('Order in the plan. Tasks that can run side by side share one.'),
  parallel_group: title.max(100).optional().describe('Tasks of one group can run side by side.'),
  depends_on: z.array(name).max(500).optional().describe('Names of tasks that must be completed first.'),
  capabilities: capabilities.optional().describe('What an agent must be capable of to be offered the task.'),
};

export const plannedTask = z.strictObject({
  ...plannedTaskFields,
  estimated_complexity: z.enum(COMPLEXITIES).optional(),
  files_likely_affected: files.optional(),
});
export type PlannedTask = z.output<typeof plannedTask>;

export const tasksOf = <T extends z.ZodType>(task: T) => z.array(task).min(1, { error: 'expected at least one task' }).max(MOST_TASKS);

/** Who writes. On a claimed task that must be its holder. */
export const writer = {
  agent_id: id.optional().describe('Your agent, from agent_register. May be left out if it was registered with this token.'),
  fence: z.int().min(0).optional().describe('The fence that task_claim gave you: a write with an old one is refused.'),
};

export const reason = text(2_000);
