import type { Output } from '../../../kernel/contract.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { messageOf } from '../../../kernel/step.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { reasonToKeep } from '../../../machine/git/reason-to-keep.ts';
import { ProgramTimedOut } from '../../../machine/process/process.ts';
import type { Db } from '../../../storage/engine.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import { shellQuoted } from '../../../wire/shell-quoted.ts';
import type { instancesUnsaved } from './contract.ts';
import type { InstanceOutside } from './ports.ts';
import { branchComparison } from './removal.ts';
import { reviewsOf } from './store.ts';

/** Returns the work that would be lost with the worktree. The same rules prevent a worktree from being removed. */
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
    throw unreadable(`the worktree of ${row.id}`, path, error);
  }
}

export const unreadable = (what: string, path: string, error: unknown): Refusal =>
  new Refusal(
    'GIT_FAILED',
    `Cannot read ${what}: ${messageOf(error)}.`,
    `Run \`git -C ${shellQuoted(path)} status\`, correct what it reports, then repeat the call.`,
  );

const NOTHING = { changed: 0, untracked: 0, hidden: 0 };
