import { type Hand, messageOf } from '../../../kernel/step.ts';
import type { FileMerge, PreparedMerge } from '../../../machine/git/merge-file.ts';
import type { InstanceRow, Outside } from '../instances/index.ts';
import { FEEDBACK_FILE, feedbackFile } from './feedback-file.ts';
import { goOn, type Leased } from './step.ts';

/** Its agent may commit at the same moment; for ever it does not. */
const TRIES = 5;

export interface Merged {
  readonly at: Leased;
  readonly commit: string | null;
  /** Why there is no commit. */
  readonly reason: string | null;
}

/** Brings the feedback into the coding branch, or says why it cannot be. Undefined where another has taken over. Can be begun again after a crash. */
export async function merge({ disk }: Outside, hand: Hand, leased: Leased, review: InstanceRow, coding: InstanceRow): Promise<Merged | undefined> {
  const job = jobOf(leased, review, coding);
  let at = leased;
  try {
    let prepared = await madeBefore(disk, at, job);
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      if (prepared === undefined) {
        const made = await disk.prepareMerge(job);
        // Written down before it is on the branch: whoever takes over must know whether it is.
        const next = await hand.write((tx) => goOn(tx, at, 'merging', { git_commit_hash: made.commit }));
        if (!next) return undefined;
        at = next;
        prepared = made;
      }
      if (await disk.applyMerge(job, prepared)) return { at, commit: prepared.commit, reason: null };
      prepared = undefined;
    }
    return { at, commit: null, reason: 'its branch moved on each time' };
  } catch (error) {
    return { at, commit: null, reason: messageOf(error) };
  }
}

async function madeBefore(disk: Outside['disk'], { git_commit_hash }: Leased, { worktree }: FileMerge): Promise<PreparedMerge | undefined> {
  const onto = git_commit_hash === null ? null : await disk.resolveCommit(worktree, `${git_commit_hash}^1`);
  return git_commit_hash === null || onto === null ? undefined : { commit: git_commit_hash, onto };
}

function jobOf(row: Leased, review: InstanceRow, coding: InstanceRow): FileMerge {
  const about = review.base_commit as string;
  return {
    worktree: coding.worktree_path,
    branch: coding.branch_name,
    file: FEEDBACK_FILE,
    text: feedbackFile(row, about),
    about,
    author: { name: review.id, email: `${review.id}@localhost` },
    subject: `Review ${row.review_iteration} of ${coding.id}: ${row.feedback_type}`,
    key: row.id,
  };
}
