import type { Db } from '../../../storage/engine.ts';
import { PRIORITIES, type Priority } from './shapes.ts';
import { unreadByPriority } from './store.ts';

export interface Unread {
  readonly count: number;
  readonly by_priority: Record<Priority, number>;
}

/** What an agent has not read and that has not expired; of some priorities only, where they are given. */
export async function unreadOf(db: Db, workspace: string, agentId: string, now: number, priorities: readonly Priority[] = PRIORITIES): Promise<Unread> {
  const counted = new Map(await unreadByPriority(db, workspace, agentId, now));
  const by_priority = { low: 0, normal: 0, high: 0, urgent: 0 };
  for (const priority of priorities) by_priority[priority] = counted.get(priority) ?? 0;
  return { count: Object.values(by_priority).reduce((sum, each) => sum + each, 0), by_priority };
}
