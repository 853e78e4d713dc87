import type { CallContext } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { invalidState, ok, Refusal, type Reply } from '../../../kernel/reply.ts';
import { isHeldAs, messageOf, type StepRunner, stepRunner } from '../../../kernel/step.ts';
import type { PushOptions } from '../../../machine/git/remote.ts';
import type { GitHubRepository, Pull } from '../../../machine/github/github.ts';
import type { Tx } from '../../../storage/write.ts';
import {
  changeInstance,
  concludeReview,
  EXIT_GRACE_MS,
  findInstance,
  goOn,
  type InstanceOutside,
  type InstancePorts,
  type InstanceRow,
  LEASE_OVER,
  type LeasedInstance,
  lease,
  leave,
  requireHere,
  requireInstance,
  stillMine,
} from '../instances/index.ts';
import { callingInstance } from '../reviews/index.ts';
import type { createPullRequest } from './contract.ts';
import { asRefusal, refuseFailures, waitsForGitHub } from './failures.ts';
import { findPull, openPull, PullOutcomeUnknown } from './open-pull.ts';
import { requireReady, requireWork } from './readiness.ts';

/**
 * Creates a pull request for the work of the caller, or for the work that the caller reviews. Checks all known obstacles, records the step, and then
 * carries it out.
 */
export async function runPull(
  outside: InstanceOutside,
  ports: InstancePorts,
  input: Input<typeof createPullRequest>,
  ctx: CallContext,
): Promise<Reply<Output<typeof createPullRequest>>> {
  const caller = await callingInstance(ctx, outside.machine);
  const work = await requireWork(ctx.reader, caller);
  requireHere(work, outside.machine);
  // A review agent approves the commit that it has seen. Later commits are not included.
  const reviewed = caller.id === work.id ? null : caller.base_commit;
  const { repository, push, notIncluded } = await refuseFailures(requireReady(outside, work, input.base_branch, reviewed, ctx.signal));
  const { title, description, base_branch: base } = input;
  const leased = await ctx.write(async (tx) => {
    // The state is checked again, because it may have changed during the requests to GitHub.
    const now = await requireWork(tx.db, await requireInstance(tx.db, tx.workspace, caller.id));
    return await beginPull(tx, now, { repository, title, description, base, by: caller.id });
  });
  const runner = stepRunner(ctx, ctx.signal);
  const made = await carryOutPull(outside, ports, runner, leased, push);
  if ('failure' in made) throw made.failure instanceof PullOutcomeUnknown ? outcomeUnknown(made.failure) : asRefusal(made.failure);
  return ok({ pr_number: made.pull.number, pr_url: made.pull.url, branch_name: work.branch_name, not_included: notIncluded });
}

const outcomeUnknown = ({ message }: PullOutcomeUnknown): Refusal =>
  new Refusal(
    'GITHUB_OUTCOME_UNKNOWN',
    `${message}; it is not known yet whether the pull request was created.`,
    'Wait: the server keeps asking GitHub and sends you a message with the result.',
  );

/** The data of the step, which is stored before anything is pushed. */
interface PullStep {
  readonly repository: GitHubRepository;
  readonly title: string;
  readonly description: string;
  readonly base: string;
  /** Id of the calling instance. This is either the instance that did the work, or the review agent that approves the work. */
  readonly by: string;
  readonly begun: number;
}

export type MadePull = { readonly pull: Pull } | { readonly failure: unknown };

export async function beginPull(tx: Tx, work: InstanceRow, step: Omit<PullStep, 'begun'>): Promise<LeasedInstance> {
  const change = {
    ...lease('pull', tx.now),
    step_data: JSON.stringify({ ...step, begun: tx.now } satisfies PullStep),
    updated_at: tx.now,
    last_activity: tx.now,
  };
  await changeInstance(tx.db, work, change);
  return { ...work, ...change };
}

/**
 * Pushes the branch, opens the pull request and records it. If the pull request cannot be opened, the step is undone. The pushed commits stay, because
 * they do no harm. If the caller's request times out, the push continues, because otherwise a large branch would never be pushed completely. The agent
 * then gets the result as a message.
 */
export async function carryOutPull(
  { github, disk }: InstanceOutside,
  ports: InstancePorts,
  runner: StepRunner,
  leased: LeasedInstance,
  push: PushOptions,
): Promise<MadePull> {
  const callerIsGone = () => runner.signal?.aborted === true;
  let held = leased;
  let pull: Pull;
  try {
    await disk.pushBranch(leased.repository, leased.branch_name, push);
    // Renews the lease. If a person stopped the instance in the meantime, there is no row, and no pull request is opened.
    const still = await runner.write((tx) => goOn(tx, leased, 'pull'));
    if (!still) return { failure: noLongerHeld(leased) };
    held = still;
    pull = await openPull(github, specOf(leased, stepOf(leased)));
  } catch (failure) {
    if (failure instanceof PullOutcomeUnknown) await runner.write((tx) => leaveToSweep(tx, held));
    else await runner.write((tx) => undoPull(tx, ports, runner, held, messageOf(failure), callerIsGone()));
    return { failure };
  }
  // If this write fails, the sweep finds the pull request on GitHub and records it.
  await runner.write((tx) => savePull(tx, ports, runner, held, pull, callerIsGone()));
  return { pull };
}

const noLongerHeld = ({ id }: LeasedInstance): Refusal =>
  invalidState(`${id} was stopped before its pull request was opened, or another server took over.`, 'If you are still running, repeat the call.');

/** Finishes the step of a process that died. Asks GitHub whether the pull request exists. If it does not, the agent that called gets a message. */
export async function finishPull(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, leased: LeasedInstance, now: number): Promise<void> {
  const step = stepOf(leased);
  let pull: Pull | undefined;
  let reason = `GitHub has no open pull request of ${leased.branch_name}: the server, or GitHub, stopped before creating it`;
  try {
    pull = await findPull(outside.github, specOf(leased, step));
  } catch (failure) {
    // When the lease has expired, the next sweep asks again.
    if (waitsForGitHub(failure, step.begun, now)) return;
    reason = messageOf(failure);
  }
  const made = pull;
  await runner.write((tx) => (made ? savePull(tx, ports, runner, leased, made, true) : undoPull(tx, ports, runner, leased, reason, true)));
}

const stepOf = (row: LeasedInstance): PullStep => JSON.parse(row.step_data as string) as PullStep;

const specOf = ({ branch_name, pr_number }: LeasedInstance, { repository, title, description, base }: PullStep) => ({
  repository,
  branch: branch_name,
  known: pr_number,
  words: { title, body: description, base },
});

async function leaveToSweep(tx: Tx, leased: LeasedInstance): Promise<void> {
  const row = await stillMine(tx, leased);
  if (row) await changeInstance(tx.db, row, leave('pull', tx.now));
}

async function undoPull(tx: Tx, ports: InstancePorts, { actor }: StepRunner, leased: LeasedInstance, reason: string, notify: boolean): Promise<void> {
  const row = await stillMine(tx, leased);
  if (!row) return;
  const { by } = stepOf(leased);
  await changeInstance(tx.db, row, { ...LEASE_OVER, updated_at: tx.now });
  tx.append({ category: 'work', kind: 'pull.failed', actor, subject: row.id, payload: { branch: row.branch_name, by, reason: reason.slice(0, 200) } });
  const caller = notify ? await findInstance(tx.db, tx.workspace, by) : undefined;
  if (!caller || caller.ended_at !== null) return;
  const words = { subject: 'Your pull request was not created', body: `${reason}. Call create_pull_request again.` };
  await ports.sendMessage(tx, { from: caller.agent_id, to: caller.agent_id, actor, ...words });
}

async function savePull(tx: Tx, ports: InstancePorts, { actor }: StepRunner, leased: LeasedInstance, { number, url }: Pull, notify: boolean): Promise<void> {
  const row = await findInstance(tx.db, tx.workspace, leased.id);
  if (!row) return;
  const { by, base } = stepOf(leased);
  const pull = { pr_number: number, pr_url: url };
  const kind = row.pr_number === number ? 'pull.updated' : 'pull.created';
  const recorded = () => tx.append({ category: 'work', kind, actor, subject: row.id, payload: { ...pull, branch: row.branch_name, base, by } });
  if (!isHeldAs(row, leased)) {
    // The instance has ended, or another server has finished the step. The pull request exists anyway, so it is recorded.
    if (row.pr_number === number) return;
    await changeInstance(tx.db, row, { ...pull, updated_at: tx.now });
    recorded();
    return;
  }
  const values = { ...LEASE_OVER, ...pull, status: 'pr_created', updated_at: tx.now, last_activity: tx.now } as const;
  recorded();
  if (by === row.id || row.status !== 'waiting_review') await changeInstance(tx.db, row, { ...values, news: null });
  if (by !== row.id) await approve(tx, ports, actor, by, row.agent_id, values);
  const words = `Pull request #${number} is open: ${url}`;
  if (notify && by === row.id)
    await ports.sendMessage(tx, { from: row.agent_id, to: row.agent_id, actor, subject: words, body: `It contains the branch ${row.branch_name}.` });
}

/** Ends the review and its agent. If the review has already ended, only sends the message to the coding agent. */
async function approve(tx: Tx, ports: InstancePorts, actor: string, by: string, coder: string, parent: Partial<InstanceRow>): Promise<void> {
  const { pr_number, pr_url } = parent;
  const subject = `${by} approved your work: pull request #${pr_number}`;
  const message = { subject, body: `${pr_url}. Nothing is left to do unless you get another message.` };
  const review = await findInstance(tx.db, tx.workspace, by);
  if (review?.status === 'started') {
    await concludeReview(tx, ports, review, {
      actor,
      outcome: 'approved',
      reason: `approved: pull request #${pr_number}`,
      message,
      parent,
      graceMs: EXIT_GRACE_MS,
    });
  } else {
    await ports.sendMessage(tx, { from: coder, to: coder, actor, ...message });
  }
}
