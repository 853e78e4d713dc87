import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { chunks } from '../../../storage/rows.ts';
import { PRIVATE } from '../../core/identity/index.ts';
import { type AgentRow, agentsById, agentViewer } from '../agents/index.ts';
import type { WorkflowRow } from '../workflows/index.ts';
import type { workflowsTimeline } from './contract.ts';
import { spansOf, type TaskSpan } from './spans.ts';
import { happeningsOf, statusChangesOf, takenUpTasks } from './store.ts';

type Timeline = Output<typeof workflowsTimeline>;

const MAX_TASKS = 500;
const MAX_HAPPENINGS = 10_000;
const MAX_SPANS = 1_000;
const MAX_STATUS_CHANGES = 100;
const NAME_SHOWN = 100;
const AGENTS_AT_ONCE = 500;

/** Of a long workflow, shows only the most recently changed tasks, because these matter most. */
export async function timelineOf(db: Db, workflow: WorkflowRow, principal: Principal, now: number): Promise<Timeline> {
  const { rows: tasks, total } = await takenUpTasks(db, workflow, MAX_TASKS);
  const names = new Map(tasks.map(({ id, name }) => [id, beginning(name, NAME_SHOWN)]));
  const all = spansOf(await happeningsOf(db, workflow.workspace_id, [...names.keys()], MAX_HAPPENINGS));
  const spans = all.sort((one, other) => one.from - other.from).slice(-MAX_SPANS);
  const agents = await agentsOf(db, workflow.workspace_id, spans);
  const viewer = await agentViewer(db, principal, now);
  // All agents of private developers share one lane, because separate lanes would show what each private developer did.
  const laneOf = ({ agent_id }: TaskSpan) => viewer.show(agents.get(agent_id ?? '')?.developer_id, agent_id);
  const lanes = [...Map.groupBy(spans, laneOf)].map(([lane, own]) => {
    const agent = agents.get(own[0]?.agent_id ?? '');
    const seen = agent && viewer.view(agent);
    return {
      agent_id: lane,
      agent_name: seen?.name ?? null,
      agent_page: agent ? viewer.agent(agent.actor, agent.developer_id).agent_id : null,
      lease_expires_at: lane === PRIVATE ? null : (seen?.lease_expires_at ?? null),
      spans: own.map(({ agent_id: _, ...span }) => ({ ...span, task_name: names.get(span.task_id) as string })),
    };
  });
  const turns = await statusChangesOf(db, workflow, MAX_STATUS_CHANGES);
  return { workflow_id: workflow.id, lanes, turns, now, spans_more: all.length - spans.length, tasks_more: total - tasks.length };
}

async function agentsOf(db: Db, workspace: string, spans: readonly TaskSpan[]): Promise<Map<string, AgentRow>> {
  const agents = new Map<string, AgentRow>();
  for (const some of chunks([...new Set(spans.flatMap(({ agent_id }) => agent_id ?? []))], AGENTS_AT_ONCE)) {
    for (const [id, row] of await agentsById(db, workspace, some)) agents.set(id, row);
  }
  return agents;
}
