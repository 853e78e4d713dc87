import { type Hand, messageOf } from '../../../kernel/step.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { endSession, removeFromDisk } from './end.ts';
import { adopt, issue, kindFor, launch, putFiles, type Running, requireAwaited, required, TakenOver } from './launch.ts';
import { requireOwn } from './owner.ts';
import type { InstancePorts } from './ports.ts';
import { goOn, LEASE_OVER, type Leased, type Outside, stillMine } from './step.ts';
import { changeInstance, deleteInstance, insertRelationship } from './store.ts';

export type Started = { readonly row: InstanceRow } | { readonly failure: unknown };

/** From what was written down to an agent at work, or back to nothing. Can be begun again by whoever takes it over. */
export async function carryOutStart(outside: Outside, ports: InstancePorts, hand: Hand, leased: Leased): Promise<Started> {
  let at = leased;
  const before = givenUp(at);
  if (before !== null) {
    await undo(outside, ports, hand, at, before);
    return { failure: new Error(before) };
  }
  try {
    if (at.step === 'worktree') at = required(await prepare(outside, hand, at));
    const sessions = await outside.sessions(at.session_kind ?? kindFor(outside, at));
    let running = await adopt(sessions, at);
    if (!running) {
      await putFiles(outside, at);
      const { row, token } = await issue(ports, hand, at, sessions.kind);
      at = row;
      running = await launch(outside, sessions, at, token);
    }
    const session = running;
    return { row: required(await hand.write((tx) => settle(tx, hand.actor, at, session))) };
  } catch (failure) {
    if (!(failure instanceof TakenOver)) await undo(outside, ports, hand, at, messageOf(failure));
    return { failure };
  }
}

async function prepare(outside: Outside, hand: Hand, at: Leased): Promise<Leased | undefined> {
  const { repository, worktree_path, branch_name, base_commit } = at;
  await requireOwn(outside, worktree_path);
  await outside.disk.addWorktree(repository, { path: worktree_path, branch: branch_name, base: base_commit as string }, { signal: hand.signal });
  return await hand.write((tx) => goOn(tx, at, 'session'));
}

/** It is there for everybody: of a review, its parent waits from now on. */
async function settle(tx: Tx, actor: string, leased: Leased, session: Running): Promise<InstanceRow | undefined> {
  const row = await stillMine(tx, leased);
  if (!row) return undefined;
  const after = { ...row, ...LEASE_OVER, ...session, updated_at: tx.now, last_activity: tx.now };
  await changeInstance(tx.db, row, { ...LEASE_OVER, ...session, updated_at: tx.now, last_activity: tx.now });
  const payload = { type: row.type, agent: row.agent, branch: row.branch_name, parent: row.parent_instance_id, review_iteration: row.review_iteration };
  tx.append({ category: 'work', kind: 'instance.started', actor, subject: row.id, payload });
  const parent = await requireAwaited(tx, row);
  if (!parent || row.review_iteration === null) return after;
  await insertRelationship(tx.db, {
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

/** Why it is being undone: whoever began that has said so to the caller, and it is not started after all. */
const givenUp = ({ step_data }: Leased): string | null => (step_data === null ? null : (JSON.parse(step_data) as { undo: string }).undo);

/** What was made goes, as nobody was told of it. Where work would be lost by that, the instance stays on record as one that ended. */
async function undo(outside: Outside, ports: InstancePorts, hand: Hand, at: Leased, reason: string): Promise<void> {
  const leased = await hand.write((tx) => goOn(tx, at, at.step, { step_data: JSON.stringify({ undo: reason }) }));
  if (!leased) return;
  await endSession(outside, leased);
  await outside.disk.discardUnfinished(leased.repository, leased.worktree_path).catch(() => {});
  const left = await removeFromDisk(outside, leased, false);
  await hand.write(async (tx) => {
    const row = await stillMine(tx, leased);
    if (!row) return;
    const over = { ...LEASE_OVER, status: 'terminated', status_reason: reason, kept_reason: left.reason, ended_at: tx.now, updated_at: tx.now } as const;
    if (left.reason === null) await deleteInstance(tx.db, row);
    else await changeInstance(tx.db, row, over);
    if (row.token_id !== null) await ports.revokeToken(tx, row.token_id, hand.actor);
    await ports.agentLeaves(tx, row.agent_id, hand.actor);
    const payload = { type: row.type, agent: row.agent, parent: row.parent_instance_id, reason: reason.slice(0, 200) };
    tx.append({ category: 'work', kind: 'instance.failed', actor: hand.actor, subject: row.id, payload });
  });
}
