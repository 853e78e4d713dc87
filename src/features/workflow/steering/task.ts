import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { agentsById, agentViewer } from '../agents/index.ts';
import { openQuestion } from '../messages/index.ts';
import {
  type CheckpointRow,
  dependenciesOf,
  edgesOf,
  isSatisfied,
  newestCheckpoints,
  requireWorkflow,
  shownStatus,
  viewCheckpoint,
  viewTask,
  type WorkflowRow,
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import type { workflowsCheckpoints, workflowsTask } from './contract.ts';
import { countDependents, dependentsOf, type OpenTask, unfinishedTasks } from './store.ts';
import { unmetChain } from './task-graph.ts';

type Shown = Output<typeof workflowsTask>;
type Checkpoints = Output<typeof workflowsCheckpoints>;
type Neighbour = Shown['dependencies'][number];

const NEIGHBOURS = 100;
const CHAIN = 20;
const DETAIL = 4_000;

const neighbour = ({ id, name, ...row }: OpenTask): Neighbour => ({ id, name, status: shownStatus(row) });

export async function taskPage(db: Db, task: WorkflowTaskRow, principal: Principal, now: number): Promise<Shown> {
  const workspace = task.workspace_id;
  const workflow = await requireWorkflow(db, workspace, task.workflow_id);
  const ids = [task.assigned_agent_id, task.completed_by].filter((id) => id !== null);
  const agents = await agentsById(db, workspace, ids);
  const viewer = await agentViewer(db, principal, now);
  const holder = agents.get(task.assigned_agent_id ?? '');
  const finisher = agents.get(task.completed_by ?? '');
  const dependencies = (await dependenciesOf(db, workspace, [task.id])).get(task.id) ?? [];
  const dependents = await dependentsOf(db, workspace, task.id, NEIGHBOURS);
  return {
    task: viewTask(task),
    workflow: { id: workflow.id, name: workflow.name, status: workflow.status },
    claim: holder
      ? {
          agent_id: holder.id,
          agent_name: viewer.view(holder).name,
          agent_page: viewer.agent(holder.actor, holder.developer_id).agent_id,
          fence: task.fence,
          claimed_at: task.claimed_at,
          lease_expires_at: viewer.view(holder).lease_expires_at,
        }
      : null,
    completed_by: finisher ? viewer.view(finisher).name : null,
    dependencies: dependencies.slice(0, NEIGHBOURS).map(neighbour),
    dependencies_more: Math.max(0, dependencies.length - NEIGHBOURS),
    dependents: dependents.slice(0, NEIGHBOURS).map(neighbour),
    dependents_more: dependents.length > NEIGHBOURS ? (await countDependents(db, workspace, task.id)) - NEIGHBOURS : 0,
    ...(dependencies.some(({ status }) => !isSatisfied(status)) ? await unmetOf(db, workflow, task) : { unmet: [], unmet_length: 0 }),
    question: task.question_id === null ? null : await openQuestion(db, workspace, principal, now, task.question_id),
  };
}

async function unmetOf(db: Db, workflow: WorkflowRow, task: WorkflowTaskRow): Promise<Pick<Shown, 'unmet' | 'unmet_length'>> {
  const open = new Map((await unfinishedTasks(db, workflow)).map((row) => [row.id, row]));
  const waiting = new Map<string, string[]>();
  for (const { task_id, depends_on } of await edgesOf(db, workflow)) {
    if (!open.has(depends_on)) continue;
    const own = waiting.get(task_id);
    if (own) own.push(depends_on);
    else waiting.set(task_id, [depends_on]);
  }
  const chain = unmetChain(task.id, waiting);
  const shown = chain.length <= CHAIN ? chain : [...chain.slice(0, CHAIN - 1), ...chain.slice(-1)];
  return { unmet: shown.map((id) => neighbour(open.get(id) as OpenTask)), unmet_length: chain.length };
}

export async function checkpointPage(
  db: Db,
  task: WorkflowTaskRow,
  viewer: Principal,
  now: number,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<Checkpoints> {
  const rows = await newestCheckpoints(db, task.workspace_id, task.id, limit + 1, before);
  const listed = rows.slice(0, limit);
  const agents = await agentsById(db, task.workspace_id, [...new Set(listed.flatMap(({ agent_id }) => agent_id ?? []))]);
  const { view } = await agentViewer(db, viewer, now);
  const nameOf = (row: CheckpointRow): string | null => {
    const agent = agents.get(row.agent_id ?? '');
    return agent ? view(agent).name : null;
  };
  return {
    items: listed.map((row) => ({ ...viewCheckpoint(row), agent_name: nameOf(row), detail: detailOf(row) })),
    more: rows.length > limit,
  };
}

/** Returns the beginning of a checkpoint's details, as JSON that is formatted for people. */
function detailOf({ detail }: CheckpointRow): string | null {
  if (detail === null) return null;
  const text = JSON.stringify(JSON.parse(detail), null, 2);
  return text.length <= DETAIL ? text : `${text.slice(0, DETAIL).toWellFormed()}\n… (${text.length - DETAIL} more characters)`;
}
