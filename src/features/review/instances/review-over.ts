import { changeRows } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { beginEnding } from './end.ts';
import { allows, withNews } from './lifecycle.ts';
import type { InstancePorts, LeasedInstance } from './step.ts';
import { changeInstance, findInstance, reviewedBy } from './store.ts';

export interface Over {
  readonly actor: string;
  /** As it stands in the relationship: the type of its feedback, `approved`, `timeout`, `stopped`, `ended`. */
  readonly outcome: string;
  readonly reason: string;
  /** What the coding agent is told of it. */
  readonly message: { readonly subject: string; readonly body: string | Record<string, unknown>; readonly priority?: 'low' | 'normal' | 'high' | 'urgent' };
  /** What is typed into its terminal, or what it is started again with; by default the words of the message. */
  readonly news?: string;
  /** What the parent is, besides free again. */
  readonly parent?: Partial<InstanceRow>;
  /** Its work has been delivered: its worktree goes, with a backup of whatever else is in it. */
  readonly delivered?: boolean;
  /** The reviewer itself has called, and is given time to read its answer. */
  readonly graceMs?: number;
}

/** A review is over, whichever way: its reviewer ends, and its parent is free again and told. */
export async function reviewOver(tx: Tx, ports: InstancePorts, review: InstanceRow, over: Over): Promise<LeasedInstance> {
  const relationship = await reviewedBy(tx.db, tx.workspace, review.id);
  if (relationship) {
    const { workspace_id, parent_instance, child_instance } = relationship;
    const open = { workspace_id, parent_instance, child_instance, ended_at: null };
    await changeRows(tx.db, 'instance_relationships', open, { outcome: over.outcome, ended_at: tx.now });
  }
  const parent = relationship && (await findInstance(tx.db, tx.workspace, relationship.parent_instance));
  if (parent && allows('review over', parent.status)) {
    const news = over.news ?? (typeof over.message.body === 'string' ? `${over.message.subject}. ${over.message.body}` : over.message.subject);
    await changeInstance(tx.db, parent, { status: 'started', news: withNews(parent, news), updated_at: tx.now, ...over.parent });
    tx.append({ category: 'work', kind: 'instance.review_over', actor: over.actor, subject: parent.id, payload: { review: review.id, outcome: over.outcome } });
    await ports.tell(tx, { from: review.agent_id, to: parent.agent_id, actor: over.actor, ...over.message });
  }
  const values = { status: 'terminated', status_reason: over.reason } as const;
  return await beginEnding(tx, review, values, { force: over.delivered === true }, over.graceMs);
}
