import type { Output } from '../../kernel/contract.ts';
import type { Db } from '../../storage/engine.ts';
import { type AgentRow, agentsById, type agentViewer } from '../agents/index.ts';
import { tasksClaimedIn } from '../execution/index.ts';
import { shownStatus, type WorkflowRow } from '../workflows/index.ts';
import type { workflowsShow } from './contract.ts';

type Claim = Output<typeof workflowsShow>['claims'][number];

/** Who works on what, as the viewer may know the agents. */
export async function claimsIn(db: Db, workflow: WorkflowRow, view: Awaited<ReturnType<typeof agentViewer>>): Promise<Claim[]> {
  const tasks = await tasksClaimedIn(db, workflow.workspace_id, workflow.id);
  const holders = await agentsById(
    db,
    workflow.workspace_id,
    tasks.map(({ assigned_agent_id }) => assigned_agent_id as string),
  );
  return tasks.flatMap((task) => {
    const holder: AgentRow | undefined = holders.get(task.assigned_agent_id as string);
    if (!holder) return [];
    const { id, name, lease_expires_at } = view(holder);
    return [
      {
        task_id: task.id,
        task_name: task.name,
        status: shownStatus(task),
        agent_id: id,
        agent_name: name,
        claimed_at: task.claimed_at,
        lease_expires_at,
        question_id: task.question_id,
      },
    ];
  });
}
