import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext, Principal } from '../../../kernel/call.ts';
import { type Contract, isForType } from '../../../kernel/contract.ts';
import { invalidState, Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { type InstanceRow, requireHere, requireInstance } from '../instances/index.ts';

const START_TRIES = 100;
const BETWEEN_TRIES_MS = 50;

/** Returns the calling instance, which is identified only by its token. If the instance is still being started, waits until the start is recorded. */
export async function callingInstance(ctx: Pick<CallContext, 'reader' | 'workspace' | 'principal' | 'signal'>, machine: string): Promise<InstanceRow> {
  for (let attempt = 1; ; attempt++) {
    const row = await requireCaller(ctx.reader, ctx.workspace, ctx.principal);
    requireHere(row, machine);
    if (row.step !== 'worktree' && row.step !== 'session') return row;
    if (attempt === START_TRIES) throw invalidState(`${row.id} is still being started.`, 'Repeat the call in a minute.', { status: row.status });
    await sleep(BETWEEN_TRIES_MS, undefined, { signal: ctx.signal });
  }
}

async function requireCaller(db: Db, workspace: string, { instanceId }: Principal): Promise<InstanceRow> {
  if (instanceId === null) {
    throw new Refusal(
      'NOT_AN_INSTANCE',
      'Only an agent started by this server can call this tool, with its own token.',
      'Ask a person to start an agent: `covenant instances start --type coding --prompt TEXT`, or `--type planning` for create_issues. request_review starts review agents.',
    );
  }
  return await requireInstance(db, workspace, instanceId);
}

export function requireType(row: InstanceRow, contract: Pick<Contract, 'agentType'>, may: string): void {
  if (isForType(contract, row.type)) return;
  const next = row.type === 'review' ? 'Answer with send_feedback or create_pull_request.' : `Continue your own work as a ${row.type} agent.`;
  throw new Refusal('WRONG_AGENT_TYPE', `${row.id} is a ${row.type} agent; only ${may}.`, next, { agent_type: row.type, needed: contract.agentType });
}
