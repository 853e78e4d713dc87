import { record, type WriteContext } from '../../../kernel/context.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { isSilent } from './liveness.ts';
import type { Gone } from './ports.ts';
import { changeAgent, takeSilentOffline } from './store.ts';

/** Of one that was silent for too long, whoever finds out first: it is offline, and what it held is free. Answers how many tasks. */
export async function noteSilence(tx: Tx, id: string, gone: Gone): Promise<number> {
  const agent = await takeSilentOffline(tx.db, tx.workspace, id, tx.now);
  if (!agent) return 0;
  const tasks_released = await gone(tx, agent, { reason: 'agent silent', actor: 'server' });
  const payload = { reason: 'silent', last_seen_at: agent.last_seen_at, tasks_released };
  tx.append({ category: 'work', kind: 'agent.offline', actor: 'server', subject: id, payload });
  return tasks_released;
}

/** By its own word. Answers how many tasks it gave back; one that is offline already has none. */
export async function leave(tx: Tx, ctx: WriteContext, agent: AgentRow, kind: 'agent.unregistered' | 'agent.offline', gone: Gone): Promise<number> {
  if (agent.status === 'offline') return 0;
  // One that was silent for too long cannot say that it left in time.
  if (isSilent(agent, tx.now)) return await noteSilence(tx, agent.id, gone);
  await changeAgent(tx.db, tx.workspace, agent.id, { status: 'offline', current_task_id: null, updated_at: tx.now });
  const reason = kind === 'agent.unregistered' ? 'agent unregistered' : 'agent went offline';
  const tasks_released = await gone(tx, { ...agent, status: 'offline', current_task_id: null }, { reason, actor: ctx.principal.actor });
  record(tx, ctx, { category: 'work', kind, subject: agent.id, payload: { tasks_released } });
  return tasks_released;
}
