import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { chunks } from '../../../storage/rows.ts';
import { type AgentRow, type AgentViewer, agentsById } from '../agents/index.ts';
import { tasksClaimedIn } from '../steps/index.ts';
import { shownStatus, type WorkflowRow } from '../workflows/index.ts';
import type { workflowsShow } from './contract.ts';

const BATCH_SIZE = 500;
type Claim = Output<typeof workflowsShow>['claims'][number];

/** Returns the names of the agents that have claimed these tasks. Names that the viewer may not see are hidden. */
export async function holderNames(
  db: Db,
  workspace: string,
  tasks: readonly { assigned_agent_id: string | null }[],
  { view }: AgentViewer,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const ids = [...new Set(tasks.flatMap(({ assigned_agent_id: id }) => id ?? []))];
  for (const some of chunks(ids, BATCH_SIZE)) {
    for (const row of (await agentsById(db, workspace, some)).values()) names.set(row.id, view(row).name);
  }
  return names;
}

/** Returns the claims on tasks of the workflow. Agent names that the viewer may not see are hidden. */
export async function claimsIn(db: Db, workflow: WorkflowRow, viewer: AgentViewer): Promise<Claim[]> {
  const tasks = await tasksClaimedIn(db, workflow.workspace_id, workflow.id);
  const ids = tasks.map(({ assigned_agent_id }) => assigned_agent_id as string);
  const holders = await agentsById(db, workflow.workspace_id, ids);
  return tasks.flatMap((task) => {
    const holder: AgentRow | undefined = holders.get(task.assigned_agent_id as string);
    if (!holder) return [];
    const { id, name, lease_expires_at } = viewer.view(holder);
    return [
      {
        task_id: task.id,
        task_name: task.name,
        status: shownStatus(task),
        agent_id: id,
        agent_name: name,
        agent_page: viewer.agent(holder.actor, holder.developer_id).agent_id,
        claimed_at: task.claimed_at,
        lease_expires_at,
        question_id: task.question_id,
      },
    ];
  });
}
