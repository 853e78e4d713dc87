import type { CallContext } from '../../../kernel/context.ts';
import type { Db } from '../../../storage/engine.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import { type TaskRow, tasksInHand } from '../../team/tasks/index.ts';
import { type AgentRow, agentsActingAs } from '../../workflow/agents/index.ts';
import { tasksHeldBy } from '../../workflow/steps/index.ts';
import type { WorkflowTaskRow } from '../../workflow/workflows/index.ts';
import type { Standing } from './standing.ts';

type Caller = Pick<CallContext, 'workspace' | 'principal'>;

/** An agent that registered longer ago, and was not heard of since, is no longer whoever runs now. */
const AGENT_RECENT_MS = 24 * 3_600_000;
const MOST_AGENTS = 20;
const MOST_TASKS = 50;

const isWithin = (path: string, { folder }: ClientRunRow): boolean =>
  folder !== null && (path === folder || (path.startsWith(folder) && /[\\/]/.test(path.charAt(folder.length))));

/** Agents of the workflow contract that this run may have registered, where it may be told of them: a registration does not say by which run, but often where it works. */
export async function agentsOf(db: Db, { workspace, principal }: Caller, { run, others, rights }: Standing, now: number): Promise<AgentRow[]> {
  if (!rights.workflow) return [];
  const agents = await agentsActingAs(db, workspace, principal.actor, now - AGENT_RECENT_MS, MOST_AGENTS);
  const isElsewhere = ({ workspace_path: path }: AgentRow) =>
    path !== null && run !== undefined && !isWithin(path, run) && others.some((other) => isWithin(path, other));
  return agents.filter((agent) => !isElsewhere(agent));
}

export interface OpenWork {
  readonly tasks: readonly TaskRow[];
  readonly held: readonly WorkflowTaskRow[];
}

/** What this run has begun and not ended. */
export async function openWork(db: Db, caller: Caller, standing: Standing, now: number): Promise<OpenWork> {
  const { run, others, sessionId, rights } = standing;
  const { workspace, principal } = caller;
  const elsewhere = new Set(others.flatMap(({ session_id }) => session_id ?? []));
  const since = run?.started_at ?? Number.MAX_SAFE_INTEGER;
  const tasks = rights.tasks ? await tasksInHand(db, workspace, { sessionId, actor: principal.actor, since }, MOST_TASKS) : [];
  const held: WorkflowTaskRow[] = [];
  for (const agent of await agentsOf(db, caller, standing, now)) held.push(...(await tasksHeldBy(db, workspace, agent.id)));
  return {
    tasks: tasks.filter(({ session_id }) => session_id === sessionId || session_id === null || !elsewhere.has(session_id)),
    held: held.filter(({ claimed_at }) => (claimed_at ?? 0) >= since).slice(0, MOST_TASKS),
  };
}
