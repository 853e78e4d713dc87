import { newId } from '../../../kernel/ids.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { Runtime } from './contract.ts';
import { touchAgent } from './own.ts';
import type { Gone } from './ports.ts';
import { changeAgent, findAgent, insertAgent } from './store.ts';

/** An agent that the server itself has started. It need not register: it is told under which id it takes part. */
export interface Started {
  readonly name: string;
  readonly runtime: Runtime;
  readonly workspacePath: string;
  readonly developerId: string | null;
  /** As it acts, by its own token. */
  readonly actor: string;
}

export async function enlist(tx: Tx, { name, runtime, workspacePath, developerId, actor }: Started): Promise<string> {
  const row: AgentRow = {
    workspace_id: tx.workspace,
    id: newId('ag', tx.now),
    name,
    runtime,
    role: 'worker',
    status: 'online',
    capabilities: '[]',
    current_task_id: null,
    workspace_path: workspacePath,
    metadata: null,
    developer_id: developerId,
    // It has one only when it is started, and another when it is started again.
    token_id: '',
    actor,
    registered_at: tx.now,
    last_seen_at: tx.now,
    updated_at: tx.now,
  };
  await insertAgent(tx.db, row);
  tx.append({ category: 'work', kind: 'agent.registered', actor, subject: row.id, payload: { runtime, role: row.role } });
  return row.id;
}

/** The server sees its process run. One that was offline is back, without the claims that it had. */
export async function seenRunning(tx: Tx, id: string): Promise<void> {
  const agent = await findAgent(tx.db, tx.workspace, id);
  if (agent) await touchAgent(tx, agent, agent.status === 'offline' ? { status: 'online' } : {});
}

/** Its process has ended. */
export async function dismiss(tx: Tx, id: string, by: string, gone: Gone): Promise<void> {
  const agent = await findAgent(tx.db, tx.workspace, id);
  if (!agent || agent.status === 'offline') return;
  await changeAgent(tx.db, tx.workspace, id, { status: 'offline', current_task_id: null, updated_at: tx.now });
  const tasks_released = await gone(tx, { ...agent, status: 'offline', current_task_id: null }, { reason: 'agent ended', actor: by });
  tx.append({ category: 'work', kind: 'agent.offline', actor: by, subject: id, payload: { reason: 'ended', tasks_released } });
}
