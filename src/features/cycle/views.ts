import type { Output } from '../../kernel/contract.ts';
import type { CycleHandoffRow, RoleSessionRow } from '../../storage/schema-rows.ts';
import type { cyclesHandoffs, cyclesShow } from './contract.ts';
import { archivePath } from './files.ts';
import { HANDOFF_LISTS, type HandoffPayload } from './payload.ts';
import type { StoredCycle } from './store.ts';

type Shown = Output<typeof cyclesShow>;

export const viewCycle = (cycle: StoredCycle): NonNullable<Shown['cycle']> => ({
  id: cycle.id,
  cycle_id: cycle.cycle_id,
  repository: cycle.repository,
  feature: cycle.feature,
  mode: cycle.mode,
  status: cycle.status,
  phase: cycle.phase,
  active_role: cycle.active_role,
  lock_role: cycle.lock_role,
  lock_acquired_at: cycle.lock_acquired_at,
  reworks: cycle.reworks,
  started_by: cycle.started_by,
  created_at: cycle.created_at,
  updated_at: cycle.updated_at,
  completed_at: cycle.completed_at,
  ended_at: cycle.ended_at,
  ended_by: cycle.ended_by,
  reason: cycle.reason,
  archive: cycle.status === 'archived' ? archivePath(cycle) : null,
});

export const viewSession = (session: RoleSessionRow, now: number): Shown['sessions'][number] => ({
  session_id: session.id,
  repository: session.repository,
  role: session.role,
  status: session.closed_at !== null ? 'closed' : session.expires_at <= now ? 'expired' : 'open',
  actor: session.actor,
  created_at: session.created_at,
  last_seen: session.last_seen,
  expires_at: session.expires_at,
  closed_at: session.closed_at,
  closed_by: session.closed_by,
});

export const viewHandoff = ({ number, producer, target, created_at, payload }: CycleHandoffRow): Shown['handoffs'][number] => ({
  number,
  producer,
  target,
  created_at,
  payload: JSON.parse(payload),
});

export function summariseHandoff(row: CycleHandoffRow): Output<typeof cyclesHandoffs>['items'][number] {
  const { number, producer, target, created_at, payload } = viewHandoff(row);
  const lists = payload as HandoffPayload;
  const counts = Object.fromEntries(HANDOFF_LISTS.map((name) => [name, lists[name].length])) as Record<(typeof HANDOFF_LISTS)[number], number>;
  return { number, producer, target, created_at, counts };
}
