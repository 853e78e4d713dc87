import { Refusal } from '../../../kernel/reply.ts';
import { messageOf, type StepRunner } from '../../../kernel/step.ts';
import { TmuxFailed } from '../../../machine/agent-sessions/tmux.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';
import { deleteRows, insertRows } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { endSession } from './end.ts';
import { requireParentReady } from './guards.ts';
import { adopt, issueToken, kindFor, launch, type RunningAgent, writeAgentFiles } from './launch.ts';
import { requireOwn } from './place.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { removeFromDisk } from './removal.ts';
import { goOn, LEASE_OVER, type LeasedInstance, requireStillHeld, stillMine, TakenOver } from './step.ts';
import { changeInstance } from './store.ts';

export type StartOutcome = { readonly row: InstanceRow } | { readonly failure: unknown };

/** Carries out a start that was reserved before. If that fails, undoes it. If this process dies, a server that takes over can repeat the start from the beginning. */
export async function carryOutStart(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, leased: LeasedInstance): Promise<StartOutcome> {
  let at = leased;
  const before = undoReason(at);
  if (before !== null) {
    await undo(outside, ports, runner, at, before);
    return { failure: new Error(before) };
  }
  try {
    if (at.step === 'worktree') at = requireStillHeld(await prepare(outside, runner, at));
    const sessions = await outside.sessions(at.session_kind ?? kindFor(outside, at));
    let running = await adopt(sessions, at);
    if (!running) {
      await writeAgentFiles(outside, at);
      const { row, token } = await issueToken(ports, runner, at, sessions.kind);
      at = row;
      running = await launch(outside, sessions, at, token);
    }
    const session = running;
    return { row: requireStillHeld(await runner.write((tx) => settle(tx, runner.actor, at, session))) };
  } catch (failure) {
    if (!(failure instanceof TakenOver)) await undo(outside, ports, runner, at, messageOf(failure));
    return { failure };
  }
}

async function prepare(outside: InstanceOutside, runner: StepRunner, at: LeasedInstance): Promise<LeasedInstance | undefined> {
  const { repository, worktree_path, branch_name, base_commit } = at;
  await requireOwn(outside, worktree_path);
  await outside.disk.addWorktree(repository, { path: worktree_path, branch: branch_name, base: base_commit as string }, { signal: runner.signal });
  return await runner.write((tx) => goOn(tx, at, 'session'));
}

/** Records that the instance has started. From now on, lists contain the instance. If it is a review agent, the coding agent now waits for the review. */
async function settle(tx: Tx, actor: string, leased: LeasedInstance, session: RunningAgent): Promise<InstanceRow | undefined> {
  const row = await stillMine(tx, leased);
  if (!row) return undefined;
  const after = { ...row, ...LEASE_OVER, ...session, updated_at: tx.now, last_activity: tx.now };
  await changeInstance(tx.db, row, { ...LEASE_OVER, ...session, updated_at: tx.now, last_activity: tx.now });
  const payload = { type: row.type, agent: row.agent, branch: row.branch_name, parent: row.parent_instance_id, review_iteration: row.review_iteration };
  tx.append({ category: 'work', kind: 'instance.started', actor, subject: row.id, payload });
  const parent = await requireParentReady(tx, row);
  if (!parent || row.review_iteration === null) return after;
  await insertRows(tx.db, 'instance_relationships', {
    workspace_id: tx.workspace,
    parent_instance: parent.id,
    child_instance: row.id,
    relationship_type: 'spawned_review',
    review_iteration: row.review_iteration,
    outcome: null,
    created_at: tx.now,
    ended_at: null,
  });
  await changeInstance(tx.db, parent, { status: 'waiting_review', updated_at: tx.now, last_activity: tx.now });
  tx.append({
    category: 'work',
    kind: 'instance.waiting_review',
    actor,
    subject: parent.id,
    payload: { review: row.id, review_iteration: row.review_iteration },
  });
  return after;
}

/** Returns why the start is being undone, or null if it is not being undone. A start with a reason was already reported to the caller as failed. */
const undoReason = ({ step_data }: LeasedInstance): string | null => (step_data === null ? null : (JSON.parse(step_data) as { undo: string }).undo);

/** Removes everything that the start created. If that would lose work, the worktree stays, and the instance is stored as ended. */
async function undo(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, at: LeasedInstance, reason: string): Promise<void> {
  const leased = await runner.write((tx) => goOn(tx, at, at.step, { step_data: JSON.stringify({ undo: reason }) }));
  if (!leased) return;
  await endSession(outside, leased);
  await outside.disk.discardUnfinished(leased.repository, leased.worktree_path).catch(() => {});
  const left = await removeFromDisk(outside, leased, { force: false });
  await runner.write(async (tx) => {
    const row = await stillMine(tx, leased);
    if (!row) return;
    const over = { ...LEASE_OVER, status: 'terminated', status_reason: reason, kept_reason: left.reason, ended_at: tx.now, updated_at: tx.now } as const;
    if (left.reason === null) await deleteRows(tx.db, 'instances', { workspace_id: row.workspace_id, id: row.id });
    else await changeInstance(tx.db, row, over);
    if (row.token_id !== null) await ports.revokeToken(tx, row.token_id, runner.actor);
    await ports.agentLeaves(tx, row.agent_id, runner.actor);
    const payload = { type: row.type, agent: row.agent, parent: row.parent_instance_id, reason: reason.slice(0, 200) };
    tx.append({ category: 'work', kind: 'instance.failed', actor: runner.actor, subject: row.id, payload });
  });
}

/** The refusal for a start that failed and was undone. */
export function startFailed(error: unknown): unknown {
  if (error instanceof Refusal || (error instanceof Error && error.name === 'AbortError')) return error;
  if (error instanceof TakenOver) return new Refusal('BUSY', 'Another server took over this start.', 'Run `covenant instances list` for its state.');
  const [code, next] = codeAndNext(error);
  return new Refusal(code, `No agent was started: ${messageOf(error)}. Nothing was changed.`, next);
}

function codeAndNext(error: unknown): [code: string, next: string] {
  if (error instanceof GitFailed) return ['GIT_FAILED', 'Correct what git reports, then repeat the call.'];
  if (error instanceof TmuxFailed) return ['TMUX_FAILED', 'Repeat the call. If it fails again, run `covenant doctor`.'];
  if (error instanceof ProgramMissing) return ['PROGRAM_MISSING', `Install ${error.program} on the server's machine, then repeat the call.`];
  return ['AGENT_NOT_STARTED', "Repeat the call. If it fails again, check its launcher in config.toml and the server's log."];
}
