import type { CallContext } from '../../../kernel/context.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { ok, type Reply } from '../../../kernel/reply.ts';
import type { Hand } from '../../../kernel/step.ts';
import { type InstancePorts, type InstanceRow, type Outside, requireInstance } from '../instances/index.ts';
import { callingInstance, requireType } from '../reviews/index.ts';
import type { createIssues } from './contract.ts';
import { beginIssues, carryOutIssues } from './issues-step.ts';
import { requirePlace } from './place.ts';
import { told, toldAs } from './refusals.ts';

type Wanted = Input<typeof createIssues>;

export async function runIssues(outside: Outside, ports: InstancePorts, { issues }: Wanted, ctx: CallContext): Promise<Reply<Output<typeof createIssues>>> {
  const caller = await callingInstance(ctx, outside.machine);
  requireType(caller, 'planning', 'planning agents may create issues');
  requireIdle(caller);
  const { repository } = await told(requirePlace(outside, caller, ctx.signal));
  const leased = await ctx.write(async (tx) => {
    const row = await requireInstance(tx.db, tx.workspace, caller.id);
    requireIdle(row);
    return await beginIssues(tx, row, repository, issues);
  });
  const hand: Hand = { actor: ctx.principal.actor, signal: ctx.signal, write: (callback) => ctx.settle(callback) };
  const outcome = await carryOutIssues(outside, ports, hand, leased);
  if (!outcome) throw busy(caller.id);
  const { created, failed, stopped } = outcome;
  if (created.length > 0) return ok({ created, failed });
  const refusal = stopped
    ? toldAs(stopped)
    : new Refusal('GITHUB_INVALID', 'GitHub would create none of the issues.', 'Put right what it says of each, and call again.');
  if (!(refusal instanceof Refusal)) throw refusal;
  throw new Refusal(refusal.code, refusal.message, refusal.next, { ...refusal.details, created, failed });
}

function requireIdle({ id, step, status, ended_at }: InstanceRow): void {
  if (ended_at !== null || step === 'ending') throw new Refusal('INVALID_STATE', `${id} is ${status}.`, 'Nothing is left for you to do here.', { status });
  if (step !== null) throw busy(id);
}

const busy = (id: string): Refusal =>
  new Refusal(
    'BUSY',
    `${id} is busy: its issues or its pull request are being created.`,
    'Wait: a message tells you when that is done; or call again in a minute.',
  );
