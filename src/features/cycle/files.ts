import type { CycleHandoffRow } from '../../storage/schema-rows.ts';
import { FOLDER, REDACTED } from './config.ts';
import type { StoredCycle } from './store.ts';

/**
 * Builds the files in a repository that show its cycles. They contain only data from the store, so that they can always be written again. They
 * never contain a token.
 */

type Handoffs = ReadonlyMap<string, CycleHandoffRow>;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const statusOf = (roles: readonly string[], handoffs: Handoffs) => Object.fromEntries(roles.map((role) => [role, handoffs.has(role) ? 'present' : 'empty']));

function activeState(cycle: StoredCycle, handoffs: Handoffs): object {
  const { cycle_id, feature, phase, active_role, mode, created_at, updated_at, machine } = cycle;
  const times = { created_at: time(created_at), updated_at: time(updated_at) };
  return { active: true, cycle_id, feature, phase, active_role, mode, ...times, handoff_status: statusOf(machine.roles, handoffs) };
}

const idleState = ({ mode, updated_at, machine }: StoredCycle): object => ({
  active: false,
  cycle_id: null,
  feature: null,
  phase: null,
  active_role: null,
  mode,
  created_at: null,
  updated_at: time(updated_at),
  handoff_status: statusOf(machine.roles, new Map()),
});

const heldLock = ({ lock_role, cycle_id, lock_acquired_at }: StoredCycle): object => ({
  locked: true,
  role: lock_role,
  lock_token: REDACTED,
  cycle_id,
  acquired_at: time(lock_acquired_at),
  expires_at: null,
});

const FREE_LOCK = { locked: false, role: null, lock_token: null, cycle_id: null, acquired_at: null, expires_at: null };

/** Maps the path of each file in the broker folder to its text, or to null if the file must not exist. */
export type Files = ReadonlyMap<string, string | null>;

export const handoffFile = (role: string): string => `handoff/${role}.json`;

/** The files that show the current state of a repository. If the given cycle is not active, they show an idle repository. */
export function mirrorOf(cycle: StoredCycle, handoffs: Handoffs): Files {
  const active = cycle.status === 'active';
  return new Map<string, string | null>([
    ['state.json', json(active ? activeState(cycle, handoffs) : idleState(cycle))],
    ['lock.json', json(active ? heldLock(cycle) : FREE_LOCK)],
    ...cycle.machine.roles.map((role) => {
      const payload = active ? handoffs.get(role)?.payload : undefined;
      return [handoffFile(role), payload === undefined ? null : json(JSON.parse(payload))] as const;
    }),
  ]);
}

/** The files of an archived cycle. They show its state when it was completed. */
export function archiveOf(cycle: StoredCycle, handoffs: Handoffs): ReadonlyMap<string, string> {
  const { cycle_id, feature, created_at, completed_at, ended_at } = cycle;
  const asItWas: StoredCycle = { ...cycle, updated_at: completed_at ?? cycle.updated_at };
  return new Map([
    ['config.json', json(JSON.parse(cycle.config ?? '{}'))],
    ['state.json', json(activeState(asItWas, handoffs))],
    ['lock.json', json(heldLock(cycle))],
    ...cycle.machine.roles.map((role) => [`handoff.${role}.json`, json(JSON.parse(handoffs.get(role)?.payload ?? '{}'))] as const),
    ['manifest.json', json({ cycle_id, feature, created_at: time(created_at), completed_at: time(completed_at), archived_at: time(ended_at) })],
  ]);
}

export const archivePath = ({ repository, cycle_id }: Pick<StoredCycle, 'repository' | 'cycle_id'>): string => `${repository}/${FOLDER}/archive/${cycle_id}`;
