import { basename, dirname } from 'node:path';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import { INSTANCE_ID } from './names.ts';
import { worktreesOf } from './owner.ts';

/** What an instance has on the machine, for as long as it is not over. */
export type Place = Pick<InstanceRow, 'session_name' | 'worktree_path' | 'repository' | 'machine' | 'ended_at' | 'step' | 'kept_reason'>;

export interface FoundWorktree {
  readonly repository: string;
  readonly path: string;
  /** Null: a detached HEAD. */
  readonly branch: string | null;
  /** The machine that it says it is of; null where it says nothing. */
  readonly owner: string | null;
}

const BRANCHES = ['work/', 'review/', 'planning/'];
const IN_WORKSPACE = /^[a-z0-9][a-z0-9-]{0,39}_/;

/** As instances name their sessions and folders: by their id, in another workspace than the default with its name before it. */
export const isOwnName = (name: string): boolean => INSTANCE_ID.test(name.replace(IN_WORKSPACE, ''));

const isOver = ({ ended_at, step }: Place): boolean => ended_at !== null && step === null;

/** A session that no instance needs. Whichever machine the instance is said to be of: a machine may have been renamed. */
export const isOrphanSession = (name: string, places: readonly Place[]): boolean =>
  isOwnName(name) && !places.some((place) => place.session_name === name && !isOver(place));

/** A worktree as instances have it, where they have it, that none works in and none has left work in. Another home's are its own. */
export function isOrphanWorktree({ repository, path, branch, owner }: FoundWorktree, places: readonly Place[], machine: string): boolean {
  const name = basename(path);
  if (dirname(path) !== worktreesOf(repository) || !isOwnName(name) || !BRANCHES.some((prefix) => branch === `${prefix}${name}`)) return false;
  if (owner !== null && owner !== machine) return false;
  return !places.some((place) => place.worktree_path === path && (!isOver(place) || place.kept_reason !== null));
}
