import { invalidInput } from '../../../kernel/input.ts';
import type { WorktreeStatus } from './contract.ts';

export const WORKTREE_MACHINE: Readonly<Record<WorktreeStatus, readonly WorktreeStatus[]>> = {
  active: ['merged', 'abandoned'],
  merged: [],
  abandoned: [],
};

/** What an update asks for, apart from the state of the workspace. */
export function requireSense({ status, merge_commit }: { status?: WorktreeStatus | undefined; merge_commit?: string | undefined }): WorktreeStatus {
  if (merge_commit !== undefined && status !== 'merged') {
    throw invalidInput([{ field: 'merge_commit', message: 'goes with status "merged" and with nothing else' }]);
  }
  if (status === undefined) throw invalidInput([{ field: 'status', message: 'nothing to update: give a status' }]);
  return status;
}
