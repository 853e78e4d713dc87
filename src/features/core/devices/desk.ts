import { z } from 'zod';
import type { Services } from '../../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { parseInput } from '../../../kernel/registry.ts';
import { notFound, Refusal } from '../../../kernel/reply.ts';
import { changeRows, deleteRows, findRow, insertRows, newId, readJson } from '../../../storage/rows.ts';
import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { agentTokenExpiry, findDeveloper, hashSecret, type IdentityLimits, issueToken, mintSecret } from '../identity/index.ts';
import { devicePoll, deviceRequest } from './contract.ts';
import { changeGrant, deleteOldestOf, findPending, makerOf, openSources } from './store.ts';
import { CODE_LASTS_MS, newUserCode, shownCode } from './user-code.ts';

/** How long a request that nobody approved can still be polled. */
export const UNANSWERED_KEPT_MS = 24 * 3_600_000;

interface IssuedDeviceCode {
  readonly user_code: string;
  readonly device_code: string;
  readonly expires_in: number;
  readonly interval: number;
}

/** The answer to a poll. `tokens` are returned only once. */
type PollAnswer =
  | { readonly status: 'pending'; readonly interval: number }
  | { readonly status: 'slow_down'; readonly interval: number }
  | { readonly status: 'denied' | 'expired' | 'consumed' }
  | { readonly status: 'approved'; readonly developer: string; readonly tokens: Readonly<Record<string, string>> };

/** Handles the requests of machines that have no token yet. */
export interface DeviceDesk {
  ask(source: string, body: unknown): Promise<IssuedDeviceCode>;
  poll(body: unknown): Promise<PollAnswer>;
}

export function createDeviceDesk({ store }: Pick<Services, 'store'>, limits: Pick<IdentityLimits, 'agent_token_days'>): DeviceDesk {
  return {
    async ask(source, body) {
      const { machine_name, agents } = parseInput({ input: deviceRequest }, body) as z.output<typeof deviceRequest>;
      const device_code = mintSecret();
      const user_code = await store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
        // Deletes old requests that were never completed. Completed requests stay, because they are the devices that people see.
        await deleteRows(tx.db, 'device_grants', { expires_at: { '<': tx.now - UNANSWERED_KEPT_MS }, status: { '!=': 'consumed' } });
        await requireRoom(tx, source);
        const code = await unusedCode(tx);
        const row: DeviceGrantRow = {
          id: newId('dvc', tx.now),
          user_code: code,
          device_code_hash: hashSecret(device_code),
          machine_name,
          agents: JSON.stringify(agents),
          source,
          status: 'pending',
          workspace_id: null,
          developer_id: null,
          created_at: tx.now,
          expires_at: tx.now + CODE_LASTS_MS,
          polled_at: null,
          interval_seconds: FIRST_INTERVAL_SECONDS,
          decided_at: null,
        };
        await insertRows(tx.db, 'device_grants', row);
        // The event omits the machine's name, because people name their machines after themselves.
        tx.append({ category: 'audit', kind: 'device.requested', actor: 'anonymous', subject: row.id, payload: { source, agents } });
        return code;
      });
      return { user_code: shownCode(user_code), device_code, expires_in: CODE_LASTS_MS / 1_000, interval: FIRST_INTERVAL_SECONDS };
    },

    async poll(body) {
      const { device_code } = parseInput({ input: devicePoll }, body) as z.output<typeof devicePoll>;
      const hash = hashSecret(device_code);
      const known = await findRow(store.reader, 'device_grants', { device_code_hash: hash });
      if (!known)
        throw notFound('DEVICE_NOT_FOUND', 'No device request has this `device_code`.', 'Run `covibe-local setup --base-url URL` again.', 'device_code');
      return await store.write(
        known.workspace_id ?? DEFAULT_WORKSPACE_ID,
        async (tx) => await answerPoll(tx, await findRow(tx.db, 'device_grants', { device_code_hash: hash }), limits),
      );
    },
  };
}

async function requireRoom(tx: Tx, source: string): Promise<void> {
  const sources = await openSources(tx.db, tx.now);
  const own = sources.find((each) => each.source === source);
  const isFull = sources.reduce((sum, { requests }) => sum + requests, 0) >= MAX_AT_ONCE;
  if (!isFull && (own?.requests ?? 0) < MAX_FROM_ONE_SOURCE) return;
  // The oldest request of the address with the most requests is deleted. Otherwise a few addresses could lock out everyone.
  const [heaviest] = sources.toSorted((a, b) => b.requests - a.requests || a.first_over - b.first_over);
  if (heaviest && (own?.requests ?? 0) < MAX_FROM_ONE_SOURCE) return await deleteOldestOf(tx.db, heaviest.source, tx.now);
  const firstOver = own?.first_over ?? tx.now;
  const seconds = Math.max(1, Math.ceil((firstOver - tx.now) / 1_000));
  throw new Refusal('TOO_MANY_DEVICES', 'Too many device requests wait for approval.', `Repeat the request in ${seconds} seconds.`, { retry_after: seconds });
}

async function unusedCode(tx: Tx): Promise<string> {
  for (;;) {
    const code = newUserCode();
    if (!(await findPending(tx.db, code))) return code;
  }
}

async function answerPoll(tx: Tx, row: DeviceGrantRow | undefined, limits: Pick<IdentityLimits, 'agent_token_days'>): Promise<PollAnswer> {
  if (!row) return { status: 'expired' };
  if (isTooSoon(row, tx.now)) {
    const interval = slowerInterval(row.interval_seconds);
    await changeRows(tx.db, 'device_grants', { id: row.id }, { interval_seconds: interval });
    return { status: 'slow_down', interval };
  }
  await changeRows(tx.db, 'device_grants', { id: row.id }, { polled_at: tx.now });
  const state = requestState(row, tx.now);
  if (state === 'pending') return { status: 'pending', interval: row.interval_seconds };
  if (state !== 'approved') return { status: state };
  // The approval arrived after the first lookup. Its tokens belong to another workspace than the one that this transaction writes
  // to, so the next poll returns them.
  if (row.workspace_id !== tx.workspace || row.developer_id === null) return { status: 'pending', interval: row.interval_seconds };
  return await handOver(tx, row, row.developer_id, agentTokenExpiry(tx.now, limits));
}

async function handOver(tx: Tx, row: DeviceGrantRow, developerId: string, expiresAt: number | null): Promise<PollAnswer> {
  // If two polls arrive at the same time, only one of them gets the tokens.
  if (!(await changeGrant(tx.db, row.id, 'approved', { status: 'consumed' }))) return { status: 'consumed' };
  const by = `developer:${developerId}`;
  const developer = await findDeveloper(tx.db, tx.workspace, { id: developerId });
  // More people can see labels than devices, so the label of a private developer's token omits the machine's name.
  const place = developer?.visibility === 'private' ? undefined : row.machine_name;
  const tokens: Record<string, string> = {};
  const ids: string[] = [];
  for (const agent of readJson(z.array(z.string()), row.agents)) {
    const label = place && `${agent} on ${place}`.slice(0, 100);
    const { value, token } = await issueToken(tx, { kind: 'agent', developerId, agentType: agent, label, expiresAt, by, madeBy: makerOf(row.id) });
    tokens[agent] = value;
    ids.push(token.id);
  }
  tx.append({ category: 'work', kind: 'device.set_up', actor: by, subject: row.id, payload: { token_ids: ids } });
  return { status: 'approved', developer: developer?.name ?? '', tokens };
}

const FIRST_INTERVAL_SECONDS = 5;
const SLOWER_BY_SECONDS = 5;
const LONGEST_INTERVAL_SECONDS = 60;
/** A poll may arrive earlier than the interval by this time, because the timers of other machines may run slightly fast. */
const GRACE_MS = 500;

/** The maximum number of open requests per address. A machine normally sends one. */
const MAX_FROM_ONE_SOURCE = 30;
/** The maximum number of open requests from all addresses together, because an attacker can use any number of addresses. */
const MAX_AT_ONCE = 1_000;

const isTooSoon = ({ polled_at, interval_seconds }: Pick<DeviceGrantRow, 'polled_at' | 'interval_seconds'>, now: number): boolean =>
  polled_at !== null && now - polled_at < interval_seconds * 1_000 - GRACE_MS;

/** A machine that polls too often must wait longer between its polls from then on. */
const slowerInterval = (interval: number): number => Math.min(interval + SLOWER_BY_SECONDS, LONGEST_INTERVAL_SECONDS);

type DeviceRequestState = 'pending' | 'approved' | 'denied' | 'expired' | 'consumed';

/** Returns the state of a device request. If the machine does not fetch its tokens in time after an approval, the request has expired. */
export function requestState({ status, expires_at }: Pick<DeviceGrantRow, 'status' | 'expires_at'>, now: number): DeviceRequestState {
  const isOpen = status === 'pending' || status === 'approved';
  return isOpen && now > expires_at ? 'expired' : status;
}
