import type { Principal } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { asksTo, handoffsTo } from '../../team/coordination/index.ts';
import type { waitingList } from './contract.ts';
import { namingFor } from './views.ts';

const MAX_ITEMS = 50;
const TEXT_SHOWN = 500;

/** What was put to the person, not to one of their agents. */
export async function waitingOn(db: Db, viewer: Principal, now: number): Promise<Output<typeof waitingList>> {
  if (viewer.developerId === null) return { items: [], cut: false };
  const asks = await asksTo(db, viewer.workspace, viewer.developerId, null, now, MAX_ITEMS + 1);
  const handoffs = await handoffsTo(db, viewer.workspace, viewer.developerId, null, MAX_ITEMS + 1);
  const naming = await namingFor(db, viewer);
  const items = [
    ...asks.slice(0, MAX_ITEMS).map(({ id, from_actor, from_developer_id, message, created_at, due_at }) => ({
      kind: 'ask' as const,
      id,
      from: naming.ref(from_actor, from_developer_id),
      text: beginning(message, TEXT_SHOWN),
      since: created_at,
      deadline: due_at,
    })),
    ...handoffs.slice(0, MAX_ITEMS).map(({ id, from_developer_id, message, created_at }) => ({
      kind: 'handoff' as const,
      id,
      from: { ...naming.ref(`developer:${from_developer_id}`), agent_id: null },
      text: beginning(message, TEXT_SHOWN),
      since: created_at,
      deadline: null,
    })),
  ];
  return { items, cut: asks.length > MAX_ITEMS || handoffs.length > MAX_ITEMS };
}
