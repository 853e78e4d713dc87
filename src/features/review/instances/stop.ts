import { record, type WriteContext } from '../../../kernel/call.ts';
import { invalidState, Refusal } from '../../../kernel/reply.ts';
import { messageOf, type StepRunner } from '../../../kernel/step.ts';
import type { AgentSessions, SessionHandle } from '../../../machine/agent-sessions/agent-session.ts';
import { reasonAgainstForce, reasonToKeep } from '../../../machine/git/worktree-state.ts';
import { changeRows } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { requireHere, requireIdle, requireInstance } from './guards.ts';
import { allows } from './lifecycle.ts';
import { requireOwn } from './place.ts';
import { type InstanceOutside, type InstancePorts, LEASE_OVER, type LeasedInstance, lease, leave, stillMine, takeOver } from './step.ts';
import { changeInstance, findInstance, reviewedBy, reviewsOf } from './store.ts';

/** How an instance is to be taken from the machine. */
export interface InstanceEnding {
  /** A person wants its worktree gone whatever is in it; or its work has been delivered. A backup is kept. */
  readonly force: boolean;
}

/** So long whoever called as the instance has to read its answer, before its session goes. */
export const EXIT_GRACE_MS = 5_000;

/**
 * The decision that an instance is over: who it was is over at once, its session and worktree are taken away after that.
 * `graceMs`: the sweep does it, after that time; else whoever called this carries it out at once.
 */
export async function beginEnding(tx: Tx, row: InstanceRow, values: Partial<InstanceRow>, ending: InstanceEnding, graceMs?: number): Promise<LeasedInstance> {
  const step = graceMs === undefined ? lease('ending', tx.now) : leave('ending', tx.now + graceMs);
  const change = { ...values, ...step, step_data: JSON.stringify(ending), updated_at: tx.now };
  await changeInstance(tx.db, row, change);
  return { ...row, ...change };
}

/** Agent, then session, then worktree. Can be begun again by whoever takes it over. */
export async function carryOutEnd(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, leased: LeasedInstance): Promise<InstanceRow> {
  await endSession(outside, leased);
  const { force } = JSON.parse(leased.step_data ?? '{"force":false}') as InstanceEnding;
  const left = await removeFromDisk(outside, leased, force);
  return await runner.write((tx) => settleEnd(tx, ports, runner.actor, leased, left));
}

/** What it showed last stays readable; then it, and all that it started, ends. */
export async function endSession(outside: InstanceOutside, row: InstanceRow): Promise<void> {
  if (row.session_kind === null) return;
  const sessions = await outside.sessions(row.session_kind);
  const handle = row.pid === null ? await sessions.find(row.session_name) : { name: row.session_name, pid: row.pid, started: row.process_start ?? 0 };
  if (!handle) return;
  // Where that cannot be kept (the disk is full, say) it still ends.
  if (row.session_kind === 'tmux') await keepScreen(outside, sessions, handle).catch(() => {});
  await sessions.end(handle);
}

const KEPT_LINES = 5_000;
const keepScreen = async (outside: InstanceOutside, sessions: AgentSessions, handle: SessionHandle): Promise<void> =>
  await outside.keepScreen(handle.name, await sessions.screen(handle, KEPT_LINES));

export type OnDisk = Pick<InstanceRow, 'repository' | 'worktree_path' | 'branch_name' | 'base_branch' | 'session_name'>;

export interface Left {
  /** Null: the worktree is gone. */
  readonly reason: string | null;
  readonly backup: string | null;
}

/** With what its branch is compared: what only passing branches keep is not kept. */
export const againstOf = ({ branch_name: branch, base_branch: base }: Pick<OnDisk, 'branch_name' | 'base_branch'>) => ({
  branch,
  base,
  mergeCommit: null,
  passing: `${branch.split('/')[0]}/`,
});

/** Takes worktree and branch away, if nothing is lost by it, or if what would be is kept by a backup. Never cut short: half a removal looks like deletions. */
export async function removeFromDisk(outside: InstanceOutside, row: OnDisk, force: boolean): Promise<Left> {
  const { disk, files } = outside;
  let backup: string | null = null;
  try {
    await requireOwn(outside, row.worktree_path);
    const { repository, worktree_path: path, branch_name: branch, base_branch } = row;
    // The repository itself is gone. It may come back (a disk that is not mounted): a person has to say that it does not.
    if (force && !(await files.isFolder(repository)) && !(await files.isFolder(path))) return { reason: null, backup };
    const state = await disk.worktreeState(repository, path, againstOf(row));
    const reason = reasonToKeep(state, { branch, base_branch });
    if (reason === null) {
      if (state.listed) await disk.removeWorktree(repository, path);
    } else {
      const against = force ? reasonAgainstForce(state) : reason;
      if (against !== null) return { reason: against, backup };
      if (state.listed && state.exists) {
        backup = await disk.backUp(path, row.session_name, branch);
        await disk.forceWorktreeAway(repository, path);
      } else if (state.branchTip !== null) {
        backup = await disk.backUpCommit(repository, row.session_name, state.branchTip);
      }
    }
    // If it has moved on since it was looked at, it stays.
    if (state.branchTip !== null) await disk.deleteBranch(repository, branch, state.branchTip);
    return { reason: null, backup };
  } catch (error) {
    return { reason: messageOf(error), backup };
  }
}

async function settleEnd(tx: Tx, ports: InstancePorts, actor: string, leased: LeasedInstance, { reason, backup }: Left): Promise<InstanceRow> {
  const row = await stillMine(tx, leased);
  // Another has taken it over meanwhile, and records it.
  if (!row) return leased;
  const values = {
    ...LEASE_OVER,
    pid: null,
    process_start: null,
    kept_reason: reason,
    backup_ref: backup ?? row.backup_ref,
    ended_at: row.ended_at ?? tx.now,
    updated_at: tx.now,
  };
  await changeInstance(tx.db, row, values);
  if (row.token_id !== null) await ports.revokeToken(tx, row.token_id, actor);
  await ports.agentLeaves(tx, row.agent_id, actor);
  const worktree = reason === null ? 'removed' : 'kept';
  const payload = {
    type: row.type,
    status: row.status,
    worktree,
    ...(reason === null ? {} : { reason: reason.slice(0, 200) }),
    ...(backup === null ? {} : { backup_ref: backup }),
  };
  tx.append({ category: 'work', kind: row.ended_at === null ? 'instance.ended' : 'instance.cleaned', actor, subject: row.id, payload });
  return { ...row, ...values };
}

type Hearing = Pick<InstanceRow, 'news'>;

/** What an instance has not heard of yet, and this too: it is typed as one line. */
export const withNews = ({ news }: Hearing, words: string): string => (news === null ? words : `${news} ${words}`);

/** What has come since it was told so much. */
export function stillUnheard({ news }: Hearing, told: string): string | null {
  if (news === null || news === told) return null;
  return news.startsWith(`${told} `) ? news.slice(told.length + 1) : news;
}

export interface Over {
  readonly actor: string;
  /** As it stands in the relationship: the type of its feedback, `approved`, `timeout`, `stopped`, `ended`. */
  readonly outcome: string;
  readonly reason: string;
  /** What the coding agent is told of it. */
  readonly told: { readonly subject: string; readonly body: string | Record<string, unknown>; readonly priority?: 'low' | 'normal' | 'high' | 'urgent' };
  /** What is typed into its terminal, or what it is started again with; by default the words of the message. */
  readonly news?: string;
  /** What the parent is, besides free again. */
  readonly parent?: Partial<InstanceRow>;
  /** Its work has been delivered: its worktree goes, with a backup of whatever else is in it. */
  readonly delivered?: boolean;
  /** The reviewer itself has called, and is given time to read its answer. */
  readonly graceMs?: number;
}

/** A review is over, whichever way: its reviewer ends, and its parent is free again and told. */
export async function reviewOver(tx: Tx, ports: InstancePorts, review: InstanceRow, over: Over): Promise<LeasedInstance> {
  const relationship = await reviewedBy(tx.db, tx.workspace, review.id);
  if (relationship) {
    const { workspace_id, parent_instance, child_instance } = relationship;
    const open = { workspace_id, parent_instance, child_instance, ended_at: null };
    await changeRows(tx.db, 'instance_relationships', open, { outcome: over.outcome, ended_at: tx.now });
  }
  const parent = relationship && (await findInstance(tx.db, tx.workspace, relationship.parent_instance));
  if (parent && allows('review over', parent.status)) {
    const news = over.news ?? (typeof over.told.body === 'string' ? `${over.told.subject}. ${over.told.body}` : over.told.subject);
    await changeInstance(tx.db, parent, { status: 'started', news: withNews(parent, news), updated_at: tx.now, ...over.parent });
    tx.append({ category: 'work', kind: 'instance.review_over', actor: over.actor, subject: parent.id, payload: { review: review.id, outcome: over.outcome } });
    await ports.tell(tx, { from: review.agent_id, to: parent.agent_id, actor: over.actor, ...over.told });
  }
  const values = { status: 'terminated', status_reason: over.reason } as const;
  return await beginEnding(tx, review, values, { force: over.delivered === true }, over.graceMs);
}

/** What a person's word has made of an instance. `leased`: what is to be taken from the machine now, itself first. */
export interface TakenAway {
  readonly row: InstanceRow;
  readonly leased: readonly LeasedInstance[];
}

interface EndRequest {
  readonly instance_id: string;
  readonly reason?: string | undefined;
}

type StopServices = { readonly outside: InstanceOutside; readonly ports: InstancePorts };

/** Ends its agent. Work that is a pull request stays that. */
export async function stop(tx: Tx, services: StopServices, ctx: WriteContext, { instance_id, reason }: EndRequest): Promise<TakenAway> {
  const row = await requireAtHand(tx, services, instance_id);
  if (row.step === 'ending') return await goOnEnding(tx, row);
  if (row.ended_at !== null) return { row, leased: [] };
  const status_reason = inWords('stopped', ctx, reason);
  record(tx, ctx, { category: 'work', kind: 'instance.stopped', subject: row.id, payload: { type: row.type, status: row.status } });
  if (row.type === 'review') {
    const leased = await endReview(tx, services, ctx, row, status_reason);
    return { row: leased, leased: [leased] };
  }
  const status = allows('stopped', row.status) ? 'terminated' : row.status;
  return await endWork(tx, services, ctx, row, { status, status_reason, news: null });
}

/** Gives its work up. */
export async function abandon(tx: Tx, services: StopServices, ctx: WriteContext, { instance_id, reason }: EndRequest): Promise<TakenAway> {
  const row = await requireAtHand(tx, services, instance_id);
  if (row.status === 'abandoned') return row.step === 'ending' ? await goOnEnding(tx, row) : { row, leased: [] };
  if (row.type === 'review') throw wrongState(row, 'A review is stopped, not abandoned', `covenant instances stop ${row.id}`);
  if (!allows('abandoned', row.status)) throw wrongState(row, `${row.id} is ${row.status}: there is nothing to abandon`, `covenant instances show ${row.id}`);
  record(tx, ctx, { category: 'work', kind: 'instance.abandoned', subject: row.id, payload: { automatic: false, status: row.status } });
  return await endWork(tx, services, ctx, row, { status: 'abandoned', status_reason: inWords('abandoned', ctx, reason), news: null });
}

/** Takes away what was kept of one that is over. */
export async function clean(tx: Tx, services: StopServices, { instance_id, force }: { instance_id: string; force: boolean }): Promise<TakenAway> {
  const row = await requireAtHand(tx, services, instance_id);
  if (row.ended_at === null && row.step !== 'ending') {
    throw wrongState(row, `${row.id} is not over: it is ${row.status}`, `covenant instances stop ${row.id}, or abandon it`);
  }
  if (row.ended_at !== null && row.kept_reason === null) return { row, leased: [] };
  const leased = await beginEnding(tx, row, {}, { force });
  return { row: leased, leased: [leased] };
}

async function requireAtHand(tx: Tx, { outside }: StopServices, id: string): Promise<InstanceRow> {
  const row = await requireInstance(tx.db, tx.workspace, id);
  requireHere(row, outside.machine);
  requireIdle(row, tx.now);
  return row;
}

/** Decided before, and left undone: by a server that died, or because none runs. */
async function goOnEnding(tx: Tx, row: InstanceRow): Promise<TakenAway> {
  const leased = await takeOver(tx, row);
  return { row: leased ?? row, leased: leased ? [leased] : [] };
}

/** Itself first: its review then finds nobody whom it would have to set free and to tell. One that is just being started finds it over, and is undone. */
async function endWork(tx: Tx, services: StopServices, ctx: WriteContext, row: InstanceRow, values: Partial<InstanceRow>): Promise<TakenAway> {
  const own = await beginEnding(tx, row, values, { force: false });
  const open = (await reviewsOf(tx.db, tx.workspace, row.id)).find(({ ended_at }) => ended_at === null);
  const review = open && (await findInstance(tx.db, tx.workspace, open.child_instance));
  if (!review || review.step === 'ending' || review.ended_at !== null) return { row: own, leased: [own] };
  const leased = await endReview(tx, services, ctx, review, `${row.id} was ${values.status}`);
  return { row: own, leased: review.machine === services.outside.machine ? [own, leased] : [own] };
}

async function endReview(tx: Tx, { outside, ports }: StopServices, ctx: WriteContext, review: InstanceRow, reason: string): Promise<LeasedInstance> {
  const underWay = (await ports.feedbackOf(tx.db, tx.workspace, review.id)).some(({ delivered }) => delivered === null);
  if (underWay)
    throw new Refusal('BUSY', `${review.id} is delivering its feedback at this moment.`, 'Call again in a few seconds.', { instance_id: review.id });
  return await reviewOver(tx, ports, review, {
    actor: ctx.principal.actor,
    outcome: 'stopped',
    reason,
    told: { subject: 'Your review was stopped', body: `${review.id} was stopped before it had feedback. Call request_review again, or create_pull_request.` },
    // Of another machine: its own server's sweep takes it away.
    ...(review.machine === outside.machine ? {} : { graceMs: 0 }),
  });
}

const inWords = (what: string, { principal }: WriteContext, reason: string | undefined): string =>
  `${what} by ${principal.actor}${reason === undefined ? '' : `: ${reason}`}`;

const wrongState = ({ id, status }: InstanceRow, message: string, next: string): Refusal => invalidState(`${message}.`, next, { instance_id: id, status });
