import type { z } from 'zod';
import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { view } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import { PRIVATE, viewerOf } from '../../core/identity/index.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import { instanceView } from './contract.ts';
import { AT_WORK, isAtLimit, isRunning, reviewsAllowed, SUGGESTIONS } from './lifecycle.ts';
import { listInstances, reviewCounts } from './store.ts';

export type InstanceView = z.input<typeof instanceView>;

export interface InstanceViewer {
  view(row: InstanceRow): InstanceView;
  /** Whether its work and place are hidden from the viewer. */
  isHidden(row: InstanceRow): boolean;
}

/** Other people see that a private developer's instance exists and in which state it is, but nothing that reveals the owner or the work. */
export async function instanceViewer(db: Db, principal: Principal, rows: readonly InstanceRow[]): Promise<InstanceViewer> {
  const { workspace } = principal;
  const viewer = await viewerOf(db, principal);
  const limits = await reviewLimits(db, workspace);
  const ids = rows.map(({ id }) => id);
  const ran = await reviewCounts(db, workspace, ids);
  const isHidden = ({ developer_id }: InstanceRow) => principal.kind !== 'operator' && !viewer.sees(developer_id);
  /** Replaces the ids of developers in a stored text by their names. Texts are stored with ids only, because a name may have to be hidden later. */
  const named = (text: string): string => text.replace(/\b(?:developer:|agent:[a-z-]+@)(dev_\w+)/g, (_, id: string) => viewer.name(id));
  return {
    isHidden,
    view(row) {
      const reviews = ran.get(row.id) ?? 0;
      const allowed = reviewsAllowed(row, limits);
      const atLimit = row.type === 'coding' && AT_WORK.includes(row.status) && isAtLimit(reviews, allowed);
      const own = {
        developer: viewer.name(row.developer_id),
        branch: row.branch_name,
        running: isRunning(row),
        reviews,
        max_reviews: allowed,
        max_failed_reviews: limits.autoAbandonAfter,
        at_limit: atLimit,
        suggestions: atLimit ? [...SUGGESTIONS] : [],
      };
      if (!isHidden(row))
        return view(instanceView, row, { ...own, status_reason: row.status_reason && named(row.status_reason), created_by: named(row.created_by) });
      return view(instanceView, shownOfPrivate(row), {
        ...own,
        ...{ repository: PRIVATE, base_branch: PRIVATE, worktree_path: PRIVATE, machine: PRIVATE, created_by: PRIVATE },
        ...{ issue_number: null, pr_number: null, pr_url: null },
        status_reason: row.status_reason && PRIVATE,
        kept_reason: row.kept_reason && PRIVATE,
      });
    },
  };
}

/**
 * The columns of a hidden row that other people with operator rights see. Replies to members are redacted further. A new column stays hidden until it
 * is added here.
 */
const shownOfPrivate = (row: InstanceRow) => {
  const { id, type, status, agent, agent_id, session_name, session_kind, parent_instance_id, review_iteration } = row;
  const { extra_reviews, failed_reviews, backup_ref, created_at, updated_at, last_activity, ended_at } = row;
  return {
    ...{ id, type, status, agent, agent_id, session_name, session_kind, parent_instance_id, review_iteration },
    ...{ extra_reviews, failed_reviews, backup_ref, created_at, updated_at, last_activity, ended_at },
  };
};

/** Returns agents that have used up their reviews and wait for a person's decision. Searches only the newest `limit` active agents. */
export async function spentReviews(db: Db, viewer: Principal, limit: number): Promise<{ items: InstanceView[]; cut: boolean }> {
  const { rows, total } = await listInstances(db, viewer.workspace, { status: AT_WORK, type: 'coding', limit, offset: 0 });
  const items = rows.map((await instanceViewer(db, viewer, rows)).view).filter(({ at_limit }) => at_limit);
  return { items, cut: total > rows.length };
}
