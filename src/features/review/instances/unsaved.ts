import type { Output } from '../../../kernel/contract.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { messageOf } from '../../../kernel/step.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { reasonToKeep } from '../../../machine/git/reason-to-keep.ts';
import { ProgramTimedOut } from '../../../machine/process/process.ts';
import type { Db } from '../../../storage/engine.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { instancesUnsaved } from './contract.ts';
import type { InstanceOutside } from './ports.ts';
import { branchComparison } from './removal.ts';
import { reviewsOf } from './store.ts';

/** Work that exists only in the worktree, judged by the rules of its removal. */
export async function unsavedOf({ disk }: InstanceOutside, db: Db, row: InstanceRow, signal: AbortSignal): Promise<Output<typeof instancesUnsaved>> {
  const { repository, worktree_path: path, branch_name: branch, base_branch } = row;
  try {
    const state = await disk.worktreeState(repository, path, branchComparison(row), { signal });
    const { changed, untracked, hidden } = state.listed && state.exists ? await disk.uncommittedCounts(path, { signal }) : NOTHING;
    return {
      instance_id: row.id,
      worktree: state.exists ? 'there' : 'gone',
      uncommitted: changed + untracked + hidden,
      unpushed: state.unsaved,
      kept_reason: reasonToKeep(state, { branch, base_branch }),
      backup_ref: await disk.backupRefFor(repository, row.session_name, { signal }),
      review: (await reviewsOf(db, row.workspace_id, row.id)).find(({ ended_at }) => ended_at === null)?.child_instance ?? null,
    };
  } catch (error) {
    if (!(error instanceof GitFailed || error instanceof ProgramTimedOut)) throw error;
    throw new Refusal('GIT_FAILED', `Cannot read the worktree of ${row.id}: ${messageOf(error)}.`, `Check the worktree ${path}.`);
  }
}

const NOTHING = { changed: 0, untracked: 0, hidden: 0 };
