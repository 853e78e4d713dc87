import { ok } from '../../kernel/reply.ts';
import { endingIn, onlyMatch } from '../../kernel/tail.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import type { Db } from '../../storage/engine.ts';
import { agentViewer, listAgents } from '../agents/index.ts';
import { allComplete, nextOf, pageOfTasks, pageOfWorkflows, progress, summariseWorkflow, viewWorkflow, type WorkflowRow } from '../workflows/index.ts';
import { claimsIn } from './claims.ts';
import { workflowsAgents, workflowsList, workflowsShow, workflowsTasks } from './contract.ts';

const NEXT_SHOWN = 20;

export const oversightTools: Implementation[] = [
  implement(workflowsList, {
    read: async (filter, { reader, workspace }) => {
      const { rows, total } = await pageOfWorkflows(reader, workspace, filter);
      return ok({ items: rows.map(summariseWorkflow), total });
    },
  }),
  implement(workflowsShow, {
    read: async ({ workflow_id }, { reader, workspace, principal, clock }) => {
      const workflow = await workflowNamed(reader, workspace, workflow_id);
      const now = clock.now();
      return ok({
        workflow: viewWorkflow(workflow),
        progress: await progress(reader, workflow, now),
        next: { ...(await nextOf(reader, workflow, now, true, NEXT_SHOWN)), all_complete: await allComplete(reader, workflow) },
        claims: await claimsIn(reader, workflow, await agentViewer(reader, principal, now)),
      });
    },
  }),
  implement(workflowsTasks, {
    read: async ({ workflow_id, limit, offset }, { reader, workspace }) => {
      const { id } = await workflowNamed(reader, workspace, workflow_id);
      const { tasks, total } = await pageOfTasks(reader, workspace, id, { summaries: true, limit, offset });
      return ok({ workflow_id: id, items: tasks, total });
    },
  }),
  implement(workflowsAgents, {
    read: async (page, { reader, workspace, principal, clock }) => {
      const now = clock.now();
      const { rows, total } = await listAgents(reader, workspace, {}, now, page);
      return ok({ items: rows.map(await agentViewer(reader, principal, now)), total });
    },
  }),
];

async function workflowNamed(db: Db, workspace: string, tail: string): Promise<WorkflowRow> {
  const found = await endingIn(db.selectFrom('workflows').selectAll().where('workspace_id', '=', workspace), tail);
  const id = onlyMatch(
    found.map((row) => row.id),
    tail,
    'workflow',
  );
  return found.find((row) => row.id === id) as WorkflowRow;
}
