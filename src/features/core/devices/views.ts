import { z } from 'zod';
import type { Principal } from '../../../kernel/context.ts';
import { readJson } from '../../../storage/columns.ts';
import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';
import { type DeveloperRow, PRIVATE, shown, type TokenRow } from '../identity/index.ts';
import { shownCode } from './code.ts';
import type { Device, Requested } from './contract.ts';
import { standingOf } from './pace.ts';
import { makerOf } from './store.ts';

export const agentsOf = (row: DeviceGrantRow): string[] => readJson(z.array(z.string()), row.agents);

export const viewRequested = (row: DeviceGrantRow): Requested => ({
  user_code: shownCode(row.user_code),
  machine_name: row.machine_name,
  agents: agentsOf(row),
  source: row.source,
  asked_at: row.created_at,
  expires_at: row.expires_at,
});

interface Around {
  readonly viewer: Principal;
  readonly now: number;
  readonly tokens: readonly TokenRow[];
  readonly developers: readonly DeveloperRow[];
}

/** People call their machines by their own names: a private developer's is private too. */
export function viewDevice(row: DeviceGrantRow, { viewer, now, tokens, developers }: Around): Device {
  const owner = developers.find(({ id }) => id === row.developer_id);
  const { id, name } = owner ? shown(owner, viewer) : { id: PRIVATE, name: PRIVATE };
  const own = tokens.filter(({ created_by }) => created_by === makerOf(row.id));
  const agents = agentsOf(row).map((agent) => {
    const token = own.find(({ agent_type }) => agent_type === agent);
    return { agent, token_id: token?.id ?? null, live: token !== undefined && token.revoked_at === null, last_used_at: token?.last_used_at ?? null };
  });
  const used = own.flatMap(({ last_used_at }) => last_used_at ?? []);
  return {
    device_id: row.id,
    machine_name: id === PRIVATE ? PRIVATE : row.machine_name,
    developer_id: id,
    developer: name,
    status: statusOf(row, agents, now),
    approved_at: row.decided_at ?? row.created_at,
    last_used_at: used.length > 0 ? Math.max(...used) : null,
    agents,
  };
}

function statusOf(row: DeviceGrantRow, agents: Device['agents'], now: number): Device['status'] {
  const standing = standingOf(row, now);
  if (standing === 'expired') return 'expired';
  if (standing !== 'consumed') return 'waiting';
  return agents.some(({ live }) => live) ? 'set up' : 'revoked';
}
