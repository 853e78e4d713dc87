import type { EpochMs, JsonText } from '../../../storage/columns.ts';

export const FEEDBACK_TYPES = ['needs_work', 'suggestions', 'clarification'] as const;
export type FeedbackType = (typeof FEEDBACK_TYPES)[number];
export const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;

/** What a review agent told the coding agent, in full. */
export interface ReviewFeedbackRow {
  workspace_id: string;
  id: string;
  review_instance: string;
  coding_instance: string;
  review_iteration: number;
  feedback: string;
  feedback_type: FeedbackType;
  priority: (typeof PRIORITIES)[number];
  actionable_items: JsonText;
  /** The commit that is to bring it, once it is made; the coding branch has it when `delivered` is `merged`. */
  git_commit_hash: string | null;
  delivered: 'merged' | 'message' | null;
  /** Why it could not be merged. */
  reason: string | null;
  created_at: EpochMs;
  /** Until it has been delivered, one way or the other. */
  step: 'merging' | null;
  step_until: EpochMs | null;
  /** The process that carries it out. */
  step_by: string | null;
}
