import type { Db } from '../../../storage/engine.ts';
import { findRow, matching, view } from '../../../storage/rows.ts';
import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';
import { type Feedback, feedbackView } from '../instances/index.ts';

/** Returns the feedback that this review agent has sent. A review agent sends feedback at most once. */
export const feedbackBy = (db: Db, workspace: string, review: string) => findRow(db, 'review_feedback', { workspace_id: workspace, review_instance: review });

/** Returns feedback whose delivery is not finished, from all workspaces, for reviews on this machine. */
export async function feedbackUnderWay(db: Db, machine: string): Promise<ReviewFeedbackRow[]> {
  return await db
    .selectFrom('review_feedback as f')
    .innerJoin('instances as i', (join) => join.onRef('i.workspace_id', '=', 'f.workspace_id').onRef('i.id', '=', 'f.review_instance'))
    .selectAll('f')
    .where('f.step', 'is not', null)
    .where('i.machine', '=', machine)
    .orderBy('f.step_until')
    .execute();
}

export interface OpenReview {
  readonly workspace_id: string;
  readonly child_instance: string;
  readonly created_at: number;
}

/** Returns reviews in progress on this machine that have not sent feedback yet, oldest first. */
export async function openReviews(db: Db, machine: string): Promise<OpenReview[]> {
  return await db
    .selectFrom('instance_relationships as r')
    .innerJoin('instances as i', (join) => join.onRef('i.workspace_id', '=', 'r.workspace_id').onRef('i.id', '=', 'r.child_instance'))
    .leftJoin('review_feedback as f', (join) => join.onRef('f.workspace_id', '=', 'r.workspace_id').onRef('f.review_instance', '=', 'r.child_instance'))
    .select(['r.workspace_id', 'r.child_instance', 'r.created_at'])
    .where('r.ended_at', 'is', null)
    .where('f.id', 'is', null)
    .where('i.machine', '=', machine)
    .orderBy('r.created_at')
    .execute();
}

/** Returns the feedback that the instance received, or that it sent as a reviewer, newest first. */
export async function feedbackOf(db: Db, workspace: string, instance: string): Promise<Feedback[]> {
  const rows = await matching(db, 'review_feedback', { workspace_id: workspace })
    .selectAll()
    .where((eb) => eb.or([eb('coding_instance', '=', instance), eb('review_instance', '=', instance)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => view(feedbackView, row, { feedback_id: row.id, review_instance_id: row.review_instance }));
}
