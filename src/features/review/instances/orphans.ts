import { basename, dirname } from 'node:path';
import { type CallContext, record } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { notFound, ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { AgentSessions, SessionHandle } from '../../../machine/agent-sessions/agent-session.ts';
import { reasonAgainstForce, reasonToKeep } from '../../../machine/git/reason-to-keep.ts';
import type { Db } from '../../../storage/engine.ts';
import { instancesClearOrphans, instancesOrphans, type Orphan } from './contract.ts';
import { isOwnName } from './names.ts';
import { ownerOf, worktreesFolder } from './place.ts';
import type { InstanceOutside } from './ports.ts';
import { removeFromDisk } from './removal.ts';
import { type InstancePlace, placesOf } from './store.ts';

export interface FoundWorktree {
  readonly repository: string;
  readonly path: string;
  /** Null if HEAD is detached. */
  readonly branch: string | null;
  /** The machine in the worktree's owner file; null if there is no such file. */
  readonly owner: string | null;
}

const BRANCHES = ['work/', 'review/', 'planning/'];

const isOver = ({ ended_at, step }: InstancePlace): boolean => ended_at !== null && step === null;

/**
 * Returns whether a session has the name of an instance although no instance needs it. The machine of the instance is ignored, because a machine may
 * have been renamed.
 */
export const isOrphanSession = (name: string, places: readonly InstancePlace[]): boolean =>
  isOwnName(name) && !places.some((place) => place.session_name === name && !isOver(place));

/**
 * Returns whether a worktree looks like the worktree of an instance, but no instance uses it or has kept it because of unsaved work. Worktrees of
 * other Covenant homes are never orphans.
 */
export function isOrphanWorktree({ repository, path, branch, owner }: FoundWorktree, places: readonly InstancePlace[], machine: string): boolean {
  const name = basename(path);
  if (dirname(path) !== worktreesFolder(repository) || !isOwnName(name) || !BRANCHES.some((prefix) => branch === `${prefix}${name}`)) return false;
  if (owner !== null && owner !== machine) return false;
  return !places.some((place) => place.worktree_path === path && (!isOver(place) || place.kept_reason !== null));
}

/**
 * Actions that list and clear leftover sessions and worktrees of ended instances. They are left over, for example, after a crash or after manual use
 * of git or tmux.
 */
export function orphanActions(outside: InstanceOutside): Implementation[] {
  return [
    implement(instancesOrphans, {
      read: async (_input, { reader }) => ok({ items: [...(await orphanSessions(outside, reader)), ...(await orphanWorktrees(outside, reader))].map(shown) }),
    }),
    implement(instancesClearOrphans, {
      run: async ({ force }, ctx) => {
        const sessions = await orphanSessions(outside, ctx.reader);
        const worktrees = await orphanWorktrees(outside, ctx.reader);
        if (force !== undefined && !worktrees.some(({ found }) => found.path === force))
          throw notFound(
            'ORPHAN_NOT_FOUND',
            `${force} is not a leftover worktree of an instance.`,
            'Run `covenant doctor` for the leftover worktrees.',
            'force',
          );
        const items: Cleared[] = [];
        // Sessions are ended first, so that no agent works in a worktree while the worktree is examined.
        for (const session of sessions) items.push(await endOrphan(ctx, session));
        for (const worktree of worktrees) items.push(await removeOrphan(outside, ctx, worktree, worktree.found.path === force));
        return ok({ items });
      },
    }),
  ];
}

type Cleared = Output<typeof instancesClearOrphans>['items'][number];

interface OrphanSession extends Orphan {
  readonly sessions: AgentSessions;
  readonly handle: SessionHandle;
}

interface OrphanWorktree extends Orphan {
  readonly found: FoundWorktree;
}

const shown = ({ kind, name, path, branch, reason, command }: Orphan): Orphan => ({ kind, name, path, branch, reason, command });

/**
 * Reads the sessions on the machine first and the store afterwards. A start is recorded in the store before its session exists, so no new session can
 * look like an orphan.
 */
async function orphanSessions(outside: InstanceOutside, db: Db): Promise<OrphanSession[]> {
  const tmux = await outside.tmux();
  const kinds = await Promise.all((tmux ? (['tmux', 'process'] as const) : (['process'] as const)).map((kind) => outside.sessions(kind)));
  const found: { sessions: AgentSessions; handle: SessionHandle }[] = [];
  for (const sessions of kinds) {
    const handles = await Promise.all((await sessions.names()).map((name) => sessions.find(name)));
    found.push(...handles.filter((handle) => handle !== undefined).map((handle) => ({ sessions, handle })));
  }
  const places = await placesOf(db);
  return found
    .filter(({ handle }) => isOrphanSession(handle.name, places))
    .map(({ sessions, handle }) => {
      const command = sessions.kind === 'tmux' && tmux ? ['tmux', ...tmux.endArgs(handle.name)] : ['kill', '-s', 'TERM', '--', `-${handle.pid}`];
      return { kind: 'session', name: handle.name, path: null, branch: null, reason: null, command, sessions, handle };
    });
}

async function orphanWorktrees(outside: InstanceOutside, db: Db): Promise<OrphanWorktree[]> {
  const { disk, machine } = outside;
  const here = (await placesOf(db)).filter((place) => place.machine === machine);
  const found: FoundWorktree[] = [];
  for (const repository of new Set(here.map((place) => place.repository))) {
    // If a repository is missing or not mounted, it is skipped.
    for (const { path, branch } of await disk.listWorktrees(repository).catch(() => [])) {
      found.push({ repository, path, branch, owner: await ownerOf(outside, path) });
    }
  }
  const places = await placesOf(db);
  return await Promise.all(found.filter((worktree) => isOrphanWorktree(worktree, places, machine)).map((worktree) => described(outside, worktree)));
}

async function described({ disk }: InstanceOutside, found: FoundWorktree): Promise<OrphanWorktree> {
  const { repository, path } = found;
  const branch = found.branch as string;
  const name = basename(path);
  const base_branch = await disk.defaultBranch(repository);
  const state = await disk.worktreeState(repository, path, { branch, base: base_branch, mergeCommit: null, passing: `${branch.split('/')[0]}/` });
  const reason = reasonToKeep(state, { branch, base_branch });
  const forced = reasonAgainstForce(state) === null ? ['covenant', 'doctor', '--fix', '--force', path] : null;
  return {
    kind: 'worktree',
    name,
    path,
    branch,
    reason,
    command: reason === null ? ['git', '-C', repository, 'worktree', 'remove', '--', path] : forced,
    found,
  };
}

async function endOrphan(ctx: CallContext, orphan: OrphanSession): Promise<Cleared> {
  const cleared = isOrphanSession(orphan.name, await placesOf(ctx.reader));
  if (cleared) {
    await orphan.sessions.end(orphan.handle);
    await note(ctx, orphan, null);
  }
  return { ...shown(orphan), cleared, backup_ref: null };
}

async function removeOrphan(outside: InstanceOutside, ctx: CallContext, orphan: OrphanWorktree, force: boolean): Promise<Cleared> {
  const { found, name } = orphan;
  // A new instance may have taken the name since the check.
  if (!isOrphanWorktree(found, await placesOf(ctx.reader), outside.machine)) return { ...shown(orphan), cleared: false, backup_ref: null };
  const base_branch = (await outside.disk.defaultBranch(found.repository)) ?? 'main';
  const place = { repository: found.repository, worktree_path: found.path, branch_name: found.branch as string, base_branch, session_name: name };
  const { reason, backup } = await removeFromDisk(outside, place, { force });
  if (reason === null) await note(ctx, orphan, backup);
  return { ...shown(orphan), reason, cleared: reason === null, backup_ref: backup };
}

async function note(ctx: CallContext, { kind, name, branch }: Orphan, backup_ref: string | null): Promise<void> {
  const payload = { kind, ...(branch === null ? {} : { branch }), ...(backup_ref === null ? {} : { backup_ref }) };
  await ctx.settle(async (tx) => record(tx, ctx, { category: 'work', kind: 'instance.orphan_cleared', subject: name, payload }));
}
