import { z } from 'zod';
import { contract, READ } from '../../../kernel/contract.ts';
import { id, sessionId, text, title } from '../../../kernel/fields.ts';
import { answerFields, checkOutput, confirmFields, match } from '../overlap/contract.ts';
import { RUNNING, WORK_STATUSES } from './lifecycle.ts';

const base = {
  name: 'covibe_workstream',
  toolset: 'team',
  title: 'Workstreams',
  about: 'What several of your tasks belong to. Tasks choose or make one themselves; only a large effort needs its own, by check, then start.',
} as const;

const description = text(4_000).optional().describe('What it is about, at length.');
const workstreamId = id.describe('The workstream.');

/** What every start answers besides the id. */
const started = {
  workstream_id: z.string(),
  status: z.enum(WORK_STATUSES),
  warning_id: z.string().nullable(),
};

export const checkWorkstream = contract({
  ...base,
  operation: 'check',
  description: 'Before you start: is anybody doing this already? Answers check_id, matches and, where requires_verdict is true, candidates to judge.',
  input: z.strictObject({ title, description, session_id: sessionId }),
  output: z.strictObject(checkOutput),
});

const { check_id: _, ...planOutput } = checkOutput;

export const planWorkstream = contract({
  ...base,
  operation: 'plan',
  description: 'Records future work without starting it. Overlap is answered as a warning.',
  input: z.strictObject({ title, description, session_id: sessionId }),
  output: z.strictObject({ workstream_id: z.string(), status: z.literal('planned'), ...planOutput }),
});

export const startWorkstream = contract({
  ...base,
  operation: 'start',
  description: 'Starts work that you checked with the same title in the last 10 minutes. Where the check required a verdict, send check_id and scope_verdict.',
  input: z.strictObject({ title, description, ...answerFields, session_id: sessionId }),
  output: z.strictObject(started),
});

export const startPlannedWorkstream = contract({
  ...base,
  operation: 'start_planned',
  description: 'Starts your planned workstream after a check with its title. Overlap is looked for once more at that moment.',
  input: z.strictObject({ planned_workstream_id: id.describe('The planned workstream you want to start.'), ...answerFields, session_id: sessionId }),
  output: z.strictObject(started),
});

export const updateWorkstream = contract({
  ...base,
  operation: 'update',
  description: 'Sets a started workstream to active or blocked.',
  input: z.strictObject({ workstream_id: workstreamId, status: z.enum(RUNNING), session_id: sessionId }),
  output: z.strictObject({ workstream_id: z.string(), status: z.enum(WORK_STATUSES) }),
  annotations: { idempotentHint: true },
});

export const completeWorkstream = contract({
  ...base,
  operation: 'complete',
  essential: true,
  description: 'Finishes it with a result_summary. With open tasks it warns and names them; repeat with confirm_open_tasks: true to close it all the same.',
  input: z.strictObject({
    workstream_id: workstreamId,
    result_summary: text(8_000).describe('What came out of it.'),
    confirm_open_tasks: z.boolean().optional(),
    session_id: sessionId,
  }),
  output: z.strictObject({ workstream_id: z.string(), status: z.enum(WORK_STATUSES), open_task_ids: z.array(z.string()) }),
  annotations: { idempotentHint: true },
});

export const cancelWorkstream = contract({
  ...base,
  operation: 'cancel',
  essential: true,
  description: 'Abandons a planned workstream, with a reason. A started one is completed instead.',
  input: z.strictObject({ workstream_id: workstreamId, reason: text(1_000), session_id: sessionId }),
  output: z.strictObject({ workstream_id: z.string(), status: z.enum(WORK_STATUSES) }),
  annotations: { destructiveHint: true },
});

/** A person plans at the dashboard: escalated candidates must be confirmed before anything is stored. */
export const planWorkstreamByHand = contract({
  name: 'workstreams.plan',
  toolset: 'team',
  access: 'member',
  route: 'POST /api/workstreams',
  title: 'Plan a workstream',
  description: 'Plans a workstream for the signed-in developer, with the same comparison that agents get.',
  input: z.strictObject({ title, description, ...confirmFields }),
  output: z.strictObject({
    workstream_id: z.string().nullable(),
    status: z.literal('planned').nullable(),
    requires_confirm: z.boolean(),
    ...planOutput,
    candidates: z.array(match),
  }),
});

export const showWorkstream = contract({
  name: 'workstreams.show',
  toolset: 'admin',
  access: 'member',
  title: 'A workstream',
  description: 'A workstream of the workspace, with how many tasks it has.',
  input: z.strictObject({ workstream_id: id.describe('The workstream, or the end of its id.') }),
  output: z.strictObject({
    workstream_id: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    status: z.enum(WORK_STATUSES),
    owner: z.string(),
    mine: z.boolean(),
    auto_created: z.boolean().describe('Made for a task that fitted nowhere else.'),
    tasks: z.strictObject({ all: z.int(), open: z.int() }),
    result_summary: z.string().nullable(),
    created_at: z.int(),
    updated_at: z.int(),
    closed_at: z.int().nullable(),
  }),
  annotations: READ,
});
