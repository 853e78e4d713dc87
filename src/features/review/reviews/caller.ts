import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext, Principal } from '../../../kernel/call.ts';
import { type Contract, isForType } from '../../../kernel/contract.ts';
import { invalidState, Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { type InstanceRow, requireHere, requireInstance } from '../instances/index.ts';

const START_TRIES = 100;
const BETWEEN_TRIES_MS = 50;

/** The instance that calls, known by its token alone. One that calls the very moment it was started waits until that is written down. */
export async function callingInstance(ctx: Pick<CallContext, 'reader' | 'workspace' | 'principal' | 'signal'>, machine: string): Promise<InstanceRow> {
  for (let attempt = 1; ; attempt++) {
    const row = await requireCaller(ctx.reader, ctx.workspace, ctx.principal);
    requireHere(row, machine);
    if (row.step !== 'worktree' && row.step !== 'session') return row;
    if (attempt === START_TRIES) throw invalidState(`${row.id} is still being started.`, 'Call again in a minute.', { status: row.status });
    await sleep(BETWEEN_TRIES_MS, undefined, { signal: ctx.signal });
  }
}

async function requireCaller(db: Db, workspace: string, { instanceId }: Principal): Promise<InstanceRow> {
  if (instanceId === null) {
    throw new Refusal(
      'NOT_AN_INSTANCE',
      'Only an agent that this server has started can call this, with the token of its own.',
      'covenant instances start starts an agent.',
    );
  }
  return await requireInstance(db, workspace, instanceId);
}

export function requireType(row: InstanceRow, contract: Pick<Contract, 'agentType'>, may: string): void {
  if (isForType(contract, row.type)) return;
  const next = row.type === 'review' ? 'Answer with send_feedback or create_pull_request.' : `A ${row.type} agent goes on with its own work.`;
  throw new Refusal('WRONG_AGENT_TYPE', `${row.id} is a ${row.type} agent; only ${may}.`, next, { agent_type: row.type, needed: contract.agentType });
}
