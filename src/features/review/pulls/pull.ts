import type { CallContext } from '../../../kernel/context.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { ok, type Reply } from '../../../kernel/reply.ts';
import type { StepRunner } from '../../../kernel/step.ts';
import { type InstanceOutside, type InstancePorts, requireHere, requireInstance } from '../instances/index.ts';
import { callingInstance } from '../reviews/index.ts';
import type { createPullRequest } from './contract.ts';
import { Unknown } from './open-pull.ts';
import { beginPull, carryOutPull } from './pull-step.ts';
import { requireReady, requireWork } from './readiness.ts';
import { told, toldAs } from './refusals.ts';

type Wanted = Input<typeof createPullRequest>;

/** Who asks and for whose work, what stands in the way; then it is written down, and carried out or over. */
export async function runPull(
  outside: InstanceOutside,
  ports: InstancePorts,
  input: Wanted,
  ctx: CallContext,
): Promise<Reply<Output<typeof createPullRequest>>> {
  const caller = await callingInstance(ctx, outside.machine);
  const work = await requireWork(ctx.reader, caller);
  requireHere(work, outside.machine);
  // What a review agent approves is what it has seen.
  const reviewed = caller.id === work.id ? null : caller.base_commit;
  const { repository, push, notIncluded } = await told(requireReady(outside, work, input.base_branch, reviewed, ctx.signal));
  const { title, description, base_branch: base } = input;
  const leased = await ctx.write(async (tx) => {
    // Much may have happened while GitHub was asked.
    const now = await requireWork(tx.db, await requireInstance(tx.db, tx.workspace, caller.id));
    return await beginPull(tx, now, { repository, title, description, base, by: caller.id });
  });
  const hand: StepRunner = { actor: ctx.principal.actor, signal: ctx.signal, write: (callback) => ctx.settle(callback) };
  const made = await carryOutPull(outside, ports, hand, leased, push);
  if ('failure' in made) throw made.failure instanceof Unknown ? unknown(made.failure) : toldAs(made.failure);
  return ok({ pr_number: made.pull.number, pr_url: made.pull.url, branch_name: work.branch_name, not_included: notIncluded });
}

const unknown = ({ message }: Unknown): Refusal =>
  new Refusal(
    'GITHUB_OUTCOME_UNKNOWN',
    `${message}; whether the pull request was made is not known yet.`,
    'Wait: the server goes on asking GitHub, and a message tells you what it finds.',
  );
