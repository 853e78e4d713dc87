import type { InstanceRelationshipRow, InstanceRow } from '../../../storage/schema-rows.ts';
import { branch, commit, count, localPath, matches, oneOf, type RowRule, type RowRules, rowRule } from '../../../storage/transfer/row-rules.ts';
import { INSTANCE_STATUSES, INSTANCE_STEPS, INSTANCE_TYPES } from './contract.ts';
import { INSTANCE_ID, isOwnName } from './names.ts';
import { LEASE_OVER } from './step.ts';

/** The machine name that imported instances get. No machine has this name, so sweeps and actions ignore these rows. */
const IMPORTED = 'imported';

const instance = matches(INSTANCE_ID, 'an instance id');

/** Instances are imported only as history. Their processes, worktrees, sessions, tokens and steps do not belong to this server. */
const detach: RowRule = (row, { now, isAllowed }) => {
  if (!isAllowed(String(row.repository)) || !isAllowed(String(row.worktree_path))) return { row: null, leftOut: 'outside_repositories' };
  const past = { ...row, ...LEASE_OVER, machine: IMPORTED, token_id: null, session_kind: null, pid: null, process_start: null, news: null };
  const leftOut = row.step !== null ? 'pending_steps' : row.ended_at === null ? 'running_instances' : undefined;
  const ended =
    row.ended_at !== null
      ? past
      : {
          ...past,
          status: row.status === 'started' || row.status === 'waiting_review' ? 'terminated' : (row.status ?? ''),
          status_reason: 'imported',
          ended_at: now,
        };
  return { row: { ...ended, kept_reason: null }, ...(leftOut === undefined ? {} : { leftOut }) };
};

export const instanceRows = {
  instances: rowRule<InstanceRow>(
    {
      id: instance,
      type: oneOf(...INSTANCE_TYPES),
      status: oneOf(...INSTANCE_STATUSES),
      repository: localPath,
      worktree_path: localPath,
      branch_name: branch,
      base_branch: branch,
      base_commit: commit,
      session_name: (value) => (isOwnName(String(value)) ? undefined : 'expected an instance name'),
      session_kind: oneOf('tmux', 'process'),
      parent_instance_id: instance,
      review_iteration: count,
      failed_reviews: count,
      backup_ref: matches(/^refs\/covenant\/backup\/[A-Za-z0-9_./-]{1,200}$/, 'a backup ref'),
      pr_url: matches(/^https?:\/\/[^\p{Cc}\p{Z}]{1,500}$/u, 'an address'),
      step: oneOf(...INSTANCE_STEPS),
    },
    detach,
  ),
  instance_relationships: rowRule<InstanceRelationshipRow>(
    { parent_instance: instance, child_instance: instance, relationship_type: oneOf('spawned_review'), review_iteration: count },
    (row, { now }) => (row.ended_at === null ? { row: { ...row, ended_at: now, outcome: 'imported' }, leftOut: 'pending_steps' } : { row }),
  ),
} satisfies Partial<RowRules>;
