import { dirname, join } from 'node:path';
import type { z } from 'zod';
import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { Ports } from '../../../kernel/ports.ts';
import { notFound, Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsBy } from '../../../storage/journal.ts';
import { view } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import { PRIVATE, viewerOf } from '../../core/identity/index.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import { type InstanceStep, type instancesShow, instanceView } from './contract.ts';
import { AT_WORK, isAtLimit, reviewsAllowed, SUGGESTIONS } from './lifecycle.ts';
import { type InstanceOutside, isOverdue } from './step.ts';
import { findInstance, listInstances, reviewCounts } from './store.ts';

export type InstanceView = z.input<typeof instanceView>;

export interface InstanceViewer {
  view(row: InstanceRow): InstanceView;
  /** Whether what it does, and where, is nobody else's business. */
  isHidden(row: InstanceRow): boolean;
}

/** Of a private developer's instance others see that it is there and how it stands, and nothing that tells whose it is or what it does. */
export async function instanceViewer(db: Db, principal: Principal, rows: readonly InstanceRow[]): Promise<InstanceViewer> {
  const { workspace } = principal;
  const viewer = await viewerOf(db, principal);
  const limits = await reviewLimits(db, workspace);
  const ran = await reviewCounts(
    db,
    workspace,
    rows.map(({ id }) => id),
  );
  const isHidden = ({ developer_id }: InstanceRow) => principal.kind !== 'operator' && !viewer.sees(developer_id);
  /** The store has ids alone: a name may have to be hidden one day. */
  const named = (text: string): string => text.replace(/\b(?:developer:|agent:[a-z-]+@)(dev_\w+)/g, (_, id: string) => viewer.name(id));
  return {
    isHidden,
    view(row) {
      const reviews = ran.get(row.id) ?? 0;
      const allowed = reviewsAllowed(row, limits);
      const atLimit = row.type === 'coding' && AT_WORK.includes(row.status) && isAtLimit(reviews, allowed);
      const own = {
        developer: viewer.name(row.developer_id),
        branch: row.branch_name,
        running: isRunning(row),
        reviews,
        max_reviews: allowed,
        max_failed_reviews: limits.autoAbandonAfter,
        at_limit: atLimit,
        suggestions: atLimit ? [...SUGGESTIONS] : [],
      };
      if (!isHidden(row))
        return view(instanceView, row, { ...own, status_reason: row.status_reason && named(row.status_reason), created_by: named(row.created_by) });
      const hidden = (value: string | null) => value && PRIVATE;
      return view(instanceView, row, {
        ...own,
        ...{ repository: PRIVATE, base_branch: PRIVATE, worktree_path: PRIVATE, machine: PRIVATE, created_by: PRIVATE },
        ...{ issue_number: null, pr_number: null, pr_url: null },
        status_reason: hidden(row.status_reason),
        kept_reason: hidden(row.kept_reason),
      });
    },
  };
}

/** Agents that have used up their reviews and wait until a person decides; of the newest `limit` that are at work. */
export async function spentReviews(db: Db, viewer: Principal, limit: number): Promise<{ items: InstanceView[]; cut: boolean }> {
  const { rows, total } = await listInstances(db, viewer.workspace, { status: AT_WORK, type: 'coding', limit, offset: 0 });
  const items = rows.map((await instanceViewer(db, viewer, rows)).view).filter(({ at_limit }) => at_limit);
  return { items, cut: total > rows.length };
}

/** By what was seen of it last. */
export const isRunning = ({ pid, ended_at, step }: InstanceRow): boolean => pid !== null && ended_at === null && step !== 'ending';

type Failure = Output<typeof instancesShow>['failures'][number];

const MAX_ITEMS = 20;
const GIT_MS = 5_000;

/** Where the work of an instance stood when a review tool failed it: the journal keeps it with the call. */
export const circumstancesOf =
  (reader: Db, disk: InstanceOutside['disk'], machine: string): NonNullable<Ports['circumstances']> =>
  async ({ workspace, instanceId }: Principal, { toolset }) => {
    const row = toolset === 'review' && instanceId !== null ? await findInstance(reader, workspace, instanceId) : undefined;
    if (!row) return undefined;
    const here = row.machine === machine;
    const commit = here ? await disk.resolveCommit(row.worktree_path, 'HEAD', { timeoutMs: GIT_MS }).catch(() => null) : null;
    return { branch: row.branch_name, ...(commit === null ? {} : { commit }) };
  };

interface Kept {
  readonly code?: string;
  readonly request_id: string;
  readonly circumstances: { readonly branch: string; readonly commit?: string };
}

/** Calls of review tools that failed it, the newest first. */
export async function failuresOf(db: Db, { workspace_id, id, created_at }: InstanceRow): Promise<Failure[]> {
  const rows = await eventsBy(db, workspace_id, `instance:${id}`)
    .select(['time', 'kind', 'payload'])
    .where('category', '=', 'usage')
    // An undone start may have had the same id.
    .where('time', '>=', created_at)
    .where('payload', 'like', '%"circumstances":{%')
    .orderBy('seq', 'desc')
    .limit(MAX_ITEMS)
    .execute();
  return rows.map(({ time, kind, payload }) => {
    const { code = null, request_id, circumstances } = JSON.parse(payload) as Kept;
    return { time, tool: kind, code, request_id, branch: circumstances.branch, commit: circumstances.commit ?? null };
  });
}

/** In the worktree, and keeps itself out of git. */
export const FOLDER = '.covenant';
/** In it: whose it is, where several homes share a repository. */
export const OWNER_FILE = 'machine';

/** The machine that a worktree says it is of; null where it says nothing. */
export const ownerOf = async ({ files }: Pick<InstanceOutside, 'files'>, path: string): Promise<string | null> =>
  await files.readText(join(path, FOLDER, OWNER_FILE)).catch(() => null);

/** Another home's: neither worked in nor taken away by us. */
export async function requireOwn(outside: Pick<InstanceOutside, 'files' | 'machine'>, path: string): Promise<void> {
  const owner = await ownerOf(outside, path);
  if (owner !== null && owner !== outside.machine) throw new Error(`${path} is of the server ${JSON.stringify(owner.slice(0, 200))}`);
}

/** The folders of worktrees that are there, whoever made them: another home does not know of our instances, nor we of its. */
export async function foldersIn({ disk }: Pick<InstanceOutside, 'disk'>, repository: string, signal?: AbortSignal): Promise<string[]> {
  const worktrees = await disk.listWorktrees(repository, { signal });
  return worktrees.flatMap(({ path }) => (dirname(path) === worktreesOf(repository) ? [path.slice(worktreesOf(repository).length + 1)] : []));
}

export const worktreesOf = (repository: string): string => `${repository}-worktrees`;

export async function requireInstance(db: Db, workspace: string, id: string): Promise<InstanceRow> {
  const row = await findInstance(db, workspace, id);
  if (row) return row;
  throw notFound('instance', `There is no instance ${id}.`, 'covenant instances list names those there are.', 'instance_id');
}

/** Its worktree and session are where it was started, and only the server there can reach them. */
export function requireHere(row: InstanceRow, machine: string): void {
  if (row.machine === machine) return;
  const next = `Run the command there, or call the server there. A machine is its host and the home of its server.`;
  throw new Refusal('WRONG_MACHINE', `${row.id} runs on ${row.machine}; this server is ${machine}.`, next, { instance_id: row.id, machine: row.machine });
}

const DOING: Record<Exclude<InstanceStep, 'pull' | 'issues'>, string> = {
  worktree: 'being started',
  session: 'being started',
  restart: 'being started again',
  ending: 'being ended',
};

/**
 * What was put off, or left by a process that has ended, can be decided anew. What is being made is finished or undone by whoever has it in hand;
 * but on GitHub that may take an hour, and whoever waits for its answer finds the instance ended.
 */
export function requireIdle(row: InstanceRow, now: number): void {
  if (row.step === null || row.step === 'pull' || row.step === 'issues') return;
  if ((row.step === 'restart' || row.step === 'ending') && isOverdue(row, now)) return;
  const next = 'Call again in a few seconds. What a server has left undone is finished while one runs: covenant up.';
  throw new Refusal('BUSY', `${row.id} is ${DOING[row.step]} at this moment.`, next, { instance_id: row.id, step: row.step });
}

/** An instance of which this person may see, from here, what its agent shows. */
export async function requireWatchable(db: Db, viewer: Principal, id: string, machine: string): Promise<InstanceRow> {
  const row = await requireInstance(db, viewer.workspace, id);
  // First: where it runs is private too.
  if ((await instanceViewer(db, viewer, [])).isHidden(row)) {
    const message = `${id} works for a developer who keeps their work to themselves.`;
    throw new Refusal('INSTANCE_PRIVATE', message, 'Ask them, or the operator of the server.', { field: 'instance_id' });
  }
  requireHere(row, machine);
  return row;
}
