import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { agentViewer, listAgents } from '../agents/index.ts';
import { questionsIn } from '../steps/index.ts';
import {
  allComplete,
  countsByWorkflow,
  pageOfTasks,
  pageOfWorkflows,
  progress,
  readNextTasks,
  summariseWorkflow,
  viewWorkflow,
  type WorkflowCounts,
  workflowNamed,
} from '../workflows/index.ts';
import { workflowsAgents, workflowsList, workflowsShow, workflowsTasks } from './contract.ts';
import { claimsIn, holderNames } from './holders.ts';

const NEXT_SHOWN = 20;

export const oversightTools: Implementation[] = [
  implement(workflowsList, {
    read: async (filter, { reader, workspace }) => {
      const { rows, total } = await pageOfWorkflows(reader, workspace, filter);
      const ids = rows.map(({ id }) => id);
      const counts = await countsByWorkflow(reader, workspace, ids);
      const asked = await questionsIn(reader, workspace, ids);
      const items = rows.map((row) => {
        const { by_status, changed_at } = counts.get(row.id) as WorkflowCounts;
        return { ...summariseWorkflow(row), by_status, changed_at: Math.max(row.updated_at, changed_at), questions: asked.get(row.id) ?? 0 };
      });
      return ok({ items, total });
    },
  }),
  implement(workflowsShow, {
    read: async ({ workflow_id }, { reader, workspace, principal, clock }) => {
      const workflow = await workflowNamed(reader, workspace, workflow_id);
      const now = clock.now();
      const next = await readNextTasks(reader, workflow, now, { includeFailed: true, limit: NEXT_SHOWN });
      return ok({
        workflow: viewWorkflow(workflow),
        progress: await progress(reader, workflow, now),
        next: { ...next, all_complete: await allComplete(reader, workflow) },
        claims: await claimsIn(reader, workflow, await agentViewer(reader, principal, now)),
      });
    },
  }),
  implement(workflowsTasks, {
    read: async ({ workflow_id, ...page }, { reader, workspace, principal, clock }) => {
      const { id } = await workflowNamed(reader, workspace, workflow_id);
      const { tasks, total } = await pageOfTasks(reader, workspace, id, { summaries: true, ...page });
      const names = await holderNames(reader, workspace, tasks, await agentViewer(reader, principal, clock.now()));
      const items = tasks.map((task) => ({ ...task, agent_name: names.get(task.assigned_agent_id ?? '') ?? null }));
      return ok({ workflow_id: id, items, total });
    },
  }),
  implement(workflowsAgents, {
    read: async (page, { reader, principal, clock }) => {
      const now = clock.now();
      const { rows, total } = await listAgents(reader, principal, {}, now, page);
      return ok({ items: rows.map((await agentViewer(reader, principal, now)).view), total });
    },
  }),
];
