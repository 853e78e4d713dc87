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
  /** Stored with the relationship: the type of its feedback, `approved`, `timeout`, `stopped`, `ended`. */
  readonly outcome: string;
  readonly reason: string;
  /** The message that the coding agent gets. */
  readonly message: Pick<InstanceNotice, 'subject' | 'body' | 'priority'>;
  /** Typed into its terminal, or its prompt when it is restarted; by default the words of the message. */
  readonly news?: string;
  /** Further changes to the row of the parent. */
  readonly parent?: Partial<InstanceRow>;
  /** Its feedback has been delivered: its worktree is removed, after a backup of whatever else is in it. */
  readonly delivered?: boolean;
  /** The reviewer itself has called, and gets time to read the answer. */
  readonly graceMs?: number;
}

/** Ends a review for any reason: its reviewer ends, and its parent goes back to work and gets a message. */
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
