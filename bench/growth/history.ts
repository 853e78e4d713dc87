import type { NewEvent } from '../../src/storage/journal.ts';
import { newId } from '../../src/storage/rows.ts';
import { type MadeTask, madeTask } from '../tasks.ts';

/** How many tasks and events the history has per day. The size of a store therefore also determines how old its data is. */
export const A_DAY = 1_000;
export const STEP_MS = Math.floor((24 * 3_600_000) / A_DAY);
/** Five percent of the tasks are still open, but at most this many, because a team with a longer history does not have more open work. */
const MAX_OPEN = 2_000;
export const openOf = (size: number): number => Math.min(MAX_OPEN, Math.ceil(size / 20));

export const REPOSITORY = 'github.com/acme/app';

/** An agent in this history. */
export interface Agent {
  readonly developerId: string;
  readonly actor: string;
  readonly agentType: string;
  readonly tokenId: string;
}

/** The n-th task of the history, with the time at which it was made and the agent that made it. */
export interface Moment {
  readonly n: number;
  readonly time: number;
  readonly agent: Agent;
  readonly session: string;
  readonly taskId: string;
  readonly task: MadeTask;
  readonly isOpen: boolean;
}

/** Tasks per agent session. */
export const SESSION_TASKS = 20;

export function* moments(size: number, end: number, agents: readonly Agent[]): Generator<Moment> {
  const open = size - openOf(size);
  let session = '';
  for (let n = 0; n < size; n++) {
    const time = end - (size - n) * STEP_MS;
    if (n % SESSION_TASKS === 0) session = newId('ses', time);
    const agent = agents[Math.floor(n / SESSION_TASKS) % agents.length] as Agent;
    yield { n, time, agent, session, taskId: newId('task', time), task: madeTask(n), isOpen: n >= open };
  }
}

/** The number of tasks per instance. */
export const INSTANCE_EVERY = 200;
export const instanceId = (n: number): string => `work-${n}-a1`;

/** Six of eight events record calls, as in real journals. The other two record the start and the completion of a task. */
export function eventOf({ n, agent: { actor }, taskId, task: { title, files } }: Moment): NewEvent {
  if (n % 8 === 0)
    return { category: 'work', kind: 'task.started', actor, subject: taskId, payload: { title, task_type: 'feature', target_files: files.length } };
  if (n % 8 === 1)
    return { category: 'work', kind: 'task.completed', actor, subject: taskId, payload: { title, task_type: 'feature', result_summary: 'Done and merged.' } };
  const name = CALLS[n % CALLS.length] as string;
  const outcome = n % 50 === 2 ? 'denied' : 'ok';
  const own = n % INSTANCE_EVERY === 3;
  return {
    category: 'usage',
    kind: name,
    actor: own ? `instance:${instanceId(n - 3)}` : actor,
    subject: `tool:${name}`,
    payload: {
      outcome,
      duration_ms: n % 40,
      request_id: `req_${n}`,
      arguments_sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      ...(own && { code: 'REVIEW_LIMIT_REACHED', circumstances: { branch: `work/${n}`, commit: 'f00d' } }),
    },
  };
}

const CALLS = ['covibe_task.check', 'covibe_task.start', 'covibe_coordination.claim', 'task_claim', 'message_list', 'covibe_session.heartbeat', 'clock'];
