import { changeRows } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { beginEnding } from './end.ts';
import { allows, withNews } from './lifecycle.ts';
import type { InstanceNotice, InstancePorts } from './ports.ts';
import type { LeasedInstance } from './step.ts';
import { changeInstance, findInstance, reviewedBy } from './store.ts';

export interface ReviewConclusion {
  readonly actor: string;
  /** The result of the review that is stored: the type of the feedback, or `approved`, `timeout`, `stopped` or `ended`. */
  readonly outcome: string;
  readonly reason: string;
  /** The message to the coding agent. */
  readonly message: Pick<InstanceNotice, 'subject' | 'body' | 'priority'>;
  /** The line typed into the coding agent's terminal, or its prompt at a restart. Default: the text of the message. */
  readonly news?: string;
  /** Further changes to the coding agent's row. */
  readonly parent?: Partial<InstanceRow>;
  /** Whether the feedback has been delivered. If so, the reviewer's worktree is removed, and any other work in it is backed up first. */
  readonly delivered?: boolean;
  /**
   * The sweep ends the reviewer after this time, so that the reviewer can read the answer to its call. If undefined, the caller of this function ends
   * the reviewer itself.
   */
  readonly graceMs?: number;
}

/** Ends a review for any reason. The review agent stops. The coding agent gets a message and resumes its work. */
export async function concludeReview(tx: Tx, ports: InstancePorts, review: InstanceRow, conclusion: ReviewConclusion): Promise<LeasedInstance> {
  const { actor, outcome, message } = conclusion;
  const relationship = await reviewedBy(tx.db, tx.workspace, review.id);
  if (relationship) {
    const { workspace_id, parent_instance, child_instance } = relationship;
    const open = { workspace_id, parent_instance, child_instance, ended_at: null };
    await changeRows(tx.db, 'instance_relationships', open, { outcome, ended_at: tx.now });
  }
  const parent = relationship && (await findInstance(tx.db, tx.workspace, relationship.parent_instance));
  if (parent && allows('review over', parent.status)) {
    const news = conclusion.news ?? (typeof message.body === 'string' ? `${message.subject}. ${message.body}` : message.subject);
    await changeInstance(tx.db, parent, { status: 'started', news: withNews(parent, news), updated_at: tx.now, ...conclusion.parent });
    tx.append({ category: 'work', kind: 'instance.review_over', actor, subject: parent.id, payload: { review: review.id, outcome } });
    await ports.sendMessage(tx, { from: review.agent_id, to: parent.agent_id, actor, ...message });
  }
  const values = { status: 'terminated', status_reason: conclusion.reason } as const;
  return await beginEnding(tx, review, values, { force: conclusion.delivered === true }, conclusion.graceMs);
}
