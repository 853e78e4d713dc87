import type { Actor } from '../actor.ts';

/** An agent of a workflow. */
export interface Enlisted {
  readonly actor: Actor;
  readonly id: string;
}

export interface DemoClaim {
  readonly agent_id: string;
  readonly fence: unknown;
}

/** Claims a task and plans it, until it is in progress. */
export async function hold({ actor, id }: Enlisted, task: string): Promise<DemoClaim> {
  const { fence } = await actor.call('task_claim', { task_id: task, agent_id: id });
  const claim = { agent_id: id, fence };
  await actor.call('task_update_status', { id: task, status: 'planning', ...claim });
  await actor.call('task_set_plan', {
    id: task,
    plan: { approach: 'Read what is there, change one place, test it.', steps: ['Read', 'Change', 'Test'] },
    ...claim,
  });
  await actor.call('task_update_status', { id: task, status: 'in_progress', ...claim });
  return claim;
}

/** A task from claim to completion, with what a careful agent leaves behind. */
export async function work(agent: Enlisted, task: string, outcome: string): Promise<void> {
  const { actor } = agent;
  const claim = await hold(agent, task);
  await actor.call('checkpoint_add', {
    task_id: task,
    type: 'progress',
    summary: 'Read what is there; changed it in one place.',
    files_changed: ['src/login.ts'],
    ...claim,
  });
  await actor.call('checkpoint_add', { task_id: task, type: 'decision', summary: 'Kept the signature, so that callers stay as they are.', ...claim });
  await actor.call('task_update_status', { id: task, status: 'completed', outcome, ...claim });
}
