import type { Db } from '../../storage/engine.ts';
import type { Feedback } from '../instances/index.ts';
import type { ReviewFeedbackRow } from './tables.ts';

/** What reviews told this instance, or what it told as a reviewer; the newest first. */
export async function feedbackOf(db: Db, workspace: string, instance: string): Promise<Feedback[]> {
  const rows = await db
    .selectFrom('review_feedback')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where((eb) => eb.or([eb('coding_instance', '=', instance), eb('review_instance', '=', instance)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(view);
}

const view = (row: ReviewFeedbackRow): Feedback => ({
  feedback_id: row.id,
  review_instance_id: row.review_instance,
  review_iteration: row.review_iteration,
  feedback_type: row.feedback_type,
  priority: row.priority,
  feedback: row.feedback,
  actionable_items: JSON.parse(row.actionable_items) as string[],
  git_commit_hash: row.git_commit_hash,
  delivered: row.delivered,
  reason: row.reason,
  created_at: row.created_at,
});
