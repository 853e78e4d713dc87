import type { Db } from '../../../storage/engine.ts';
import { type TaskRow, tasksInHand } from '../../team/tasks/index.ts';
import { tasksHeldBy } from '../../workflow/steps/index.ts';
import type { WorkflowTaskRow } from '../../workflow/workflows/index.ts';
import type { HookCaller, HookContext } from './context.ts';
import { findOwnAgents } from './ownership.ts';

const MAX_TASKS = 50;

export interface OpenWork {
  readonly tasks: readonly TaskRow[];
  readonly held: readonly WorkflowTaskRow[];
}

/** Finds the tasks that this run has started but not finished. */
export async function findOpenWork(db: Db, caller: HookCaller, hook: HookContext, now: number): Promise<OpenWork> {
  const { run, others, sessionId, rights } = hook;
  const { workspace, principal } = caller;
  const elsewhere = new Set(others.flatMap(({ session_id }) => session_id ?? []));
  const since = run?.started_at ?? Number.MAX_SAFE_INTEGER;
  const tasks = rights.tasks ? await tasksInHand(db, workspace, { sessionId, actor: principal.actor, since }, MAX_TASKS) : [];
  const held: WorkflowTaskRow[] = [];
  for (const agent of await findOwnAgents(db, caller, hook, now)) held.push(...(await tasksHeldBy(db, workspace, agent.id)));
  return {
    tasks: tasks.filter(({ session_id }) => session_id === sessionId || session_id === null || !elsewhere.has(session_id)),
    held: held.filter(({ claimed_at }) => (claimed_at ?? 0) >= since).slice(0, MAX_TASKS),
  };
}
