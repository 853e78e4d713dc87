import type { CallContext } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { invalidState, ok, Refusal, type Reply } from '../../../kernel/reply.ts';
import { isHeldAs, messageOf, type StepRunner, stepRunner } from '../../../kernel/step.ts';
import { type GitHub, GitHubFailed, type GitHubIssue, type GitHubRepository, type NewIssue } from '../../../machine/github/github.ts';
import { newId } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import {
  changeInstance,
  findInstance,
  goOn,
  type InstanceOutside,
  type InstancePorts,
  type InstanceRow,
  LEASE_OVER,
  type LeasedInstance,
  lease,
  requireInstance,
} from '../instances/index.ts';
import { callingInstance, requireType } from '../reviews/index.ts';
import { createIssues } from './contract.ts';
import { asRefusal, refuseFailures, waitsForGitHub } from './failures.ts';
import { requirePlace } from './readiness.ts';

type IssuesInput = Input<typeof createIssues>;

export async function runIssues(
  outside: InstanceOutside,
  ports: InstancePorts,
  { issues }: IssuesInput,
  ctx: CallContext,
): Promise<Reply<Output<typeof createIssues>>> {
  const caller = await callingInstance(ctx, outside.machine);
  requireType(caller, createIssues, 'planning agents may create issues');
  requireIdle(caller);
  const { repository } = await refuseFailures(requirePlace(outside, caller, ctx.signal));
  const leased = await ctx.write(async (tx) => {
    const row = await requireInstance(tx.db, tx.workspace, caller.id);
    requireIdle(row);
    return await beginIssues(tx, row, repository, issues);
  });
  const runner = stepRunner(ctx, ctx.signal);
  const outcome = await carryOutIssues(outside, ports, runner, leased);
  if (!outcome) throw busy(caller.id);
  const { created, failed, stopped } = outcome;
  if (created.length > 0) return ok({ created, failed });
  const refusal = stopped
    ? asRefusal(stopped)
    : new Refusal('GITHUB_INVALID', 'GitHub created none of the issues.', 'Correct what `failed` reports for each issue, then repeat the call.');
  if (!(refusal instanceof Refusal)) throw refusal;
  throw new Refusal(refusal.code, refusal.message, refusal.next, { ...refusal.details, created, failed });
}

function requireIdle({ id, step, status, ended_at }: InstanceRow): void {
  if (ended_at !== null || step === 'ending') throw invalidState(`${id} is ${status}.`, 'Stop: nothing is left to do.', { status });
  if (step !== null) throw busy(id);
}

const busy = (id: string): Refusal =>
  new Refusal(
    'BUSY',
    `${id} is busy: its issues or its pull request are being created.`,
    'Wait for the message with the result, or repeat the call in a minute.',
  );

interface Pending extends NewIssue {
  readonly index: number;
}

export interface Report {
  readonly created: { index: number; number: number; url: string; title: string }[];
  readonly failed: { index: number; title: string; message: string }[];
}

/** The stored data of a step: the issues that still have to be created, and the results so far. */
interface IssuesStep extends Report {
  readonly repository: GitHubRepository;
  /** Key in a hidden comment, by which the issues of this call can be found on GitHub. */
  readonly key: string;
  readonly begun: number;
  readonly pending: readonly Pending[];
}

export interface IssueOutcome extends Report {
  /** The failure that stopped the run before all issues were tried, or null. */
  readonly stopped: GitHubFailed | null;
}

export async function beginIssues(tx: Tx, row: InstanceRow, repository: GitHubRepository, issues: readonly NewIssue[]): Promise<LeasedInstance> {
  const pending = issues.map((issue, index) => ({ ...issue, index }));
  const step: IssuesStep = { repository, key: newId('iss', tx.now), begun: tx.now, pending, created: [], failed: [] };
  const change = { ...lease('issues', tx.now), step_data: JSON.stringify(step), updated_at: tx.now, last_activity: tx.now };
  await changeInstance(tx.db, row, change);
  return { ...row, ...change };
}

interface IssueRunOptions {
  /**
   * The time at which a server resumed the step after a crash. In that case, the first pending issue may already exist, and the step waits if GitHub
   * fails temporarily.
   */
  readonly resumedAt?: number;
}

/**
 * Creates the issues one by one, and records each issue before it creates the next one. Returns undefined if another server continues the step, or if
 * the step waits for GitHub.
 */
export async function carryOutIssues(
  outside: InstanceOutside,
  ports: InstancePorts,
  runner: StepRunner,
  leased: LeasedInstance,
  { resumedAt }: IssueRunOptions = {},
): Promise<IssueOutcome | undefined> {
  let at: LeasedInstance | undefined = leased;
  let step = JSON.parse(leased.step_data as string) as IssuesStep;
  let mayBeThere = resumedAt !== undefined;
  let stopped: GitHubFailed | null = null;
  for (let [issue, ...pending] = step.pending; issue !== undefined; [issue, ...pending] = step.pending) {
    const { index, title } = issue;
    try {
      const { number, url } = await create(outside.github, step, issue, mayBeThere);
      step = { ...step, pending, created: [...step.created, { index, number, url, title }] };
    } catch (failure) {
      if (!(failure instanceof GitHubFailed)) throw failure;
      if (resumedAt !== undefined && waitsForGitHub(failure, step.begun, resumedAt)) return undefined;
      step = { ...step, pending, failed: [...step.failed, { index, title, message: failureText(failure) }] };
      // After an invalid issue, the run continues with the next one. Any other failure stops the run.
      if (failure.why !== 'invalid') stopped = failure;
    }
    mayBeThere = false;
    if (stopped) break;
    const next = JSON.stringify(step);
    const held: LeasedInstance = at;
    at = await runner.write((tx) => goOn(tx, held, 'issues', { step_data: next }));
    if (!at) {
      await runner.write((tx) => saveIssues(tx, ports, runner.actor, held, step, true));
      return undefined;
    }
  }
  const notTried = step.pending.map(({ index, title }) => ({ index, title, message: `not tried: ${failureText(stopped)}` }));
  const report: Report = { created: step.created, failed: [...step.failed, ...notTried] };
  const held = at;
  const callerIsGone = resumedAt !== undefined || runner.signal?.aborted === true;
  await runner.write((tx) => saveIssues(tx, ports, runner.actor, held, report, callerIsGone));
  return { ...report, stopped };
}

async function create(
  github: GitHub,
  { repository, key, begun }: IssuesStep,
  { index, title, body, labels, assignees }: Pending,
  mayBeThere: boolean,
): Promise<GitHubIssue> {
  // The comment is at the beginning of the text. If it came after a code block that is not closed, it would be visible.
  const marker = `<!-- covenant:${key}-${index} -->`;
  const find = async () => (await github.issuesSince(repository, begun - CLOCKS_DIFFER_MS)).find((issue) => issue.body.includes(marker));
  const there = mayBeThere ? await find() : undefined;
  if (there) return there;
  try {
    return await github.createIssue(repository, { title, body: `${marker}\n\n${body}`, labels, assignees });
  } catch (error) {
    if (!(error instanceof GitHubFailed) || !error.isUncertain) throw error;
    const made = await find().catch(() => {
      throw new GitHubFailed(error.why, `${error.message}; it may have been created anyway: check GitHub before you try again`);
    });
    if (made) return made;
    throw error;
  }
}
const CLOCKS_DIFFER_MS = 600_000;

function failureText(failure: GitHubFailed | null): string {
  const again = failure?.retryAt == null ? '' : `; try again at ${new Date(failure.retryAt).toISOString()}`;
  return `${messageOf(failure)}${again}`;
}

async function saveIssues(
  tx: Tx,
  ports: InstancePorts,
  actor: string,
  leased: LeasedInstance,
  { created, failed }: Report,
  callerIsGone: boolean,
): Promise<void> {
  const row = await findInstance(tx.db, tx.workspace, leased.id);
  if (!row) return;
  const isMine = isHeldAs(row, leased);
  if (isMine) await changeInstance(tx.db, row, { ...LEASE_OVER, updated_at: tx.now, last_activity: tx.now });
  // Otherwise another server continues the step and records the result. But if a person stopped the instance, the created issues must be recorded here.
  else if (row.step !== 'ending' && row.ended_at === null) return;
  const payload = { numbers: created.map(({ number }) => number), failed: failed.length };
  tx.append({ category: 'work', kind: 'issues.created', actor, subject: row.id, payload });
  if (!isMine || !callerIsGone) return;
  const subject = `${created.length} of your issues were created, ${failed.length} failed`;
  const body = { created, failed: failed.map(({ index, message }) => ({ index, message })) };
  await ports.sendMessage(tx, { from: row.agent_id, to: row.agent_id, actor, subject, body });
}
