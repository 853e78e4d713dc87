import type { Tx } from '../../../storage/write.ts';
import type { Runtime } from './contract.ts';
import type { ReleaseClaims } from './leaving.ts';
import { addAgent, changeAgent, findAgent, touchAgent } from './presence.ts';

/** An agent whose program was started by the server. The server also registers the agent, so the agent does not have to call agent_register. */
interface StartedAgent {
  readonly name: string;
  readonly runtime: Runtime;
  readonly workspacePath: string;
  readonly developerId: string | null;
  /** The actor under which the agent's own token acts. */
  readonly actor: string;
}

export async function registerStartedAgent(tx: Tx, { name, runtime, workspacePath, developerId, actor }: StartedAgent): Promise<string> {
  const { id, role } = await addAgent(tx, {
    name,
    runtime,
    role: 'worker',
    capabilities: '[]',
    workspace_path: workspacePath,
    metadata: null,
    developer_id: developerId,
    // Empty, because the agent gets a token only when its program starts, and a new token at each restart.
    token_id: '',
    actor,
  });
  tx.append({ category: 'work', kind: 'agent.registered', actor, subject: id, payload: { runtime, role } });
  return id;
}

/** Records that the server saw the agent's process running. If the agent was offline, it goes online again, but does not get its earlier claims back. */
export async function noteRunning(tx: Tx, id: string): Promise<void> {
  const agent = await findAgent(tx.db, tx.workspace, id);
  if (agent) await touchAgent(tx, agent, agent.status === 'offline' ? { status: 'online' } : {});
}

/** Takes the agent offline and releases its claims, because its process has ended. */
export async function endStartedAgent(tx: Tx, id: string, by: string, releaseClaims: ReleaseClaims): Promise<void> {
  const agent = await findAgent(tx.db, tx.workspace, id);
  if (!agent || agent.status === 'offline') return;
  await changeAgent(tx.db, tx.workspace, id, { status: 'offline', current_task_id: null, updated_at: tx.now });
  const tasks_released = await releaseClaims(tx, { ...agent, status: 'offline', current_task_id: null }, { reason: 'agent ended', actor: by });
  tx.append({ category: 'work', kind: 'agent.offline', actor: by, subject: id, payload: { reason: 'ended', tasks_released } });
}
