import { absolutePath } from '../../../kernel/contract.ts';
import { STEP_OVER } from '../../../kernel/step.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import { branch, commit, fits, flag, idOf, oneOf, type RowRule, type RowRules, rowRule } from '../../../storage/transfer/row-rules.ts';
import { WORKTREE_STATUSES } from './contract.ts';

/** An imported worktree was not created by this server. The server therefore never removes the worktree from disk and does not continue its step. */
const detach: RowRule = (row, { isAllowed }) => {
  if (row.made_by_server === 1 && !(isAllowed(String(row.path)) && isAllowed(String(row.repository_path))))
    return { row: null, leftOut: 'outside_repositories' };
  const brought = { ...row, ...STEP_OVER, made_by_server: 0 };
  if (row.step !== null) return { row: brought, leftOut: 'pending_steps' };
  return row.made_by_server === 1 ? { row: brought, leftOut: 'server_worktrees' } : { row: brought };
};

export const worktreeRows = {
  worktrees: rowRule<WorktreeRow>(
    {
      id: idOf('ws'),
      workflow_id: idOf('wf'),
      status: oneOf(...WORKTREE_STATUSES),
      path: fits(absolutePath),
      repository_path: fits(absolutePath),
      branch,
      base_branch: branch,
      base_commit: commit,
      made_by_server: flag,
      step: oneOf('creating', 'removing'),
    },
    detach,
  ),
} satisfies Partial<RowRules>;
