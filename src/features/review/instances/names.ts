import type { InstanceRow } from '../../../storage/schema-rows.ts';

/** The id of an instance: `work-<issue>-a<n>`, `review-<issue>-a<n>`, `planning-a<n>` or `adhoc-a<n>`. The number n counts attempts. */
export const INSTANCE_ID = /^(work-\d{1,9}|review-\d{1,9}|planning|adhoc)-a[1-9]\d{0,5}$/;

/** Returns the id without the number of the attempt. For a review of work without an issue, the issue number in the id is 0. */
export function stemOf(type: InstanceRow['type'], issue: number | null): string {
  if (type === 'planning') return 'planning';
  if (type === 'review') return `review-${issue ?? 0}`;
  return issue === null ? 'adhoc' : `work-${issue}`;
}

export function nextId(stem: string, taken: readonly string[]): string {
  const attempts = taken.flatMap((id) => (id.startsWith(`${stem}-a`) && INSTANCE_ID.test(id) ? [Number(id.slice(stem.length + 2))] : []));
  return `${stem}-a${Math.max(0, ...attempts) + 1}`;
}

/** Returns the branch of an instance. The branch exists until its work is saved elsewhere. */
export const branchOf = (type: InstanceRow['type'], id: string): string => `${type === 'coding' ? 'work' : type}/${id}`;

const IN_WORKSPACE = /^[a-z0-9][a-z0-9-]{0,39}_/;

/**
 * Returns whether a session or folder has the name of an instance. In the default workspace, this name is the instance id. In other workspaces, the
 * name of the workspace comes before the id.
 */
export const isOwnName = (name: string): boolean => INSTANCE_ID.test(name.replace(IN_WORKSPACE, ''));
