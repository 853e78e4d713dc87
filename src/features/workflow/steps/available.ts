import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { rowsById } from '../../../storage/rows.ts';
import { capabilitiesOf, requireOwnAgent } from '../agents/index.ts';
import { isOneOf, OPEN_WORKFLOW, readStrings, requireWorkflow, viewTask, type WorkflowRow } from '../workflows/index.ts';
import { taskGetAvailable } from './contract.ts';
import { actionableTasks, type OfferedStep, runningWorkflows } from './store.ts';

interface Search {
  readonly has: ReadonlySet<string>;
  readonly limit: number;
  readonly now: number;
}

export const availableTools: Implementation[] = [
  implement(taskGetAvailable, {
    read: async ({ agent_id, workflow_id, limit }, ctx) => {
      const agent = await requireOwnAgent(ctx.reader, ctx.principal, agent_id);
      const search: Search = { has: new Set(capabilitiesOf(agent)), limit, now: ctx.clock.now() };
      const workflow = workflow_id === undefined ? undefined : await requireWorkflow(ctx.reader, ctx.workspace, workflow_id, 'workflow_id');
      const ids = workflow ? await suitableInOne(ctx.reader, workflow, search) : await suitableAnywhere(ctx.reader, ctx.workspace, search);
      const rows = await rowsById(ctx.reader, 'workflow_tasks', ctx.workspace, ids);
      // Tasks may have been removed between the two queries.
      const tasks = [...new Set(ids)].flatMap((id) => rows.get(id) ?? []).filter(({ status }) => status !== 'removed');
      return ok({ tasks: tasks.map(viewTask) });
    },
  }),
];

/** This many workflows are searched at a time. */
const WORKFLOWS_AT_ONCE = 200;

/** Searches workflows at their parallel limit last. Their tasks cannot be claimed now, and must not take the places of tasks that can be claimed. */
async function suitableAnywhere(db: Db, workspace: string, search: Search): Promise<string[]> {
  const free = await suitableInRunning(db, workspace, true, search);
  if (free.length === search.limit) return free;
  return [...free, ...(await suitableInRunning(db, workspace, false, { ...search, limit: search.limit - free.length }))];
}

async function suitableInRunning(db: Db, workspace: string, hasRoom: boolean, search: Search): Promise<string[]> {
  const found: string[] = [];
  for (let last = ''; ; ) {
    const workflows = await runningWorkflows(db, workspace, hasRoom, last, WORKFLOWS_AT_ONCE);
    if (workflows.length > 0) found.push(...(await suitableIn(db, workspace, workflows, { ...search, limit: search.limit - found.length })));
    if (found.length === search.limit || workflows.length < WORKFLOWS_AT_ONCE) return found;
    last = workflows.at(-1) ?? last;
  }
}

async function suitableInOne(db: Db, workflow: WorkflowRow, search: Search): Promise<string[]> {
  return isOneOf(OPEN_WORKFLOW, workflow.status) ? await suitableIn(db, workflow.workspace_id, [workflow.id], search) : [];
}

const FIRST_LOOK = 100;
/** Each page is this many times longer than the one before, so few pages are needed even if most tasks need capabilities that the agent lacks. */
const FURTHER = 4;

async function suitableIn(db: Db, workspace: string, workflowIds: readonly string[], { has, limit, now }: Search): Promise<string[]> {
  const found: string[] = [];
  let last: OfferedStep | undefined;
  for (let look = Math.max(FIRST_LOOK, limit); ; look *= FURTHER) {
    const offered = await actionableTasks(db, workspace, workflowIds, { last, limit: look, now });
    for (const task of offered) {
      if (readStrings(task.capabilities).every((capability) => has.has(capability))) found.push(task.id);
      if (found.length === limit) return found;
    }
    last = offered.at(-1);
    if (offered.length < look) return found;
  }
}
