import { z } from 'zod';
import { type CallContext, type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { notFound, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { pageOf, readJson, view } from '../../../storage/rows.ts';
import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { endTokenById, selfOrNamedDeveloper, type TokenRow, type Viewer, viewerOf } from '../identity/index.ts';
import { agentSetupTool } from './agent-setup.ts';
import { approveDevice, type DeviceView, findDevice, listDevices, refuseDevice, requested, revokeDevice, waitingDevices } from './contract.ts';
import { requestState } from './desk.ts';
import { Guesses } from './guesses.ts';
import { changeGrant, devicesOf, findPending, makerOf, tokensOfDevices, waitingGrants } from './store.ts';
import { shownCode } from './user-code.ts';

const MAX_WAITING = 50;

export const deviceTools = (packageRoot: string): Implementation[] => [...requestTools(new Guesses()), ...machineTools, agentSetupTool(packageRoot)];

const requestTools = (guesses: Guesses): Implementation[] => [
  implement(findDevice, {
    read: async ({ code }, ctx) => ok(viewRequested(await requireTypedCode(ctx, guesses, code))),
  }),
  implement(waitingDevices, {
    read: async (_input, { reader, workspace, clock }) => ok({ items: await devicesToApprove(reader, workspace, clock.now(), MAX_WAITING) }),
  }),
  implement(approveDevice, {
    prepare: async ({ code }, ctx) => void (await requireTypedCode(ctx, guesses, code)),
    write: async (tx, { code, developer: named }, ctx) => {
      const row = await requireWaiting(tx.db, code, tx.now);
      const developer = await selfOrNamedDeveloper(tx, named, ctx);
      await decideRequest(tx, ctx, row, { status: 'approved', workspace_id: tx.workspace, developer_id: developer.id });
      const { id: device_id, machine_name } = row;
      return ok({ device_id, machine_name, agents: agentsOf(row), developer: developer.name }, 'Approved. The device fetches its tokens within seconds.');
    },
  }),
  implement(refuseDevice, {
    prepare: async ({ code }, ctx) => void (await requireTypedCode(ctx, guesses, code)),
    write: async (tx, { code }, ctx) => {
      const row = await requireWaiting(tx.db, code, tx.now);
      await decideRequest(tx, ctx, row, { status: 'denied', workspace_id: tx.workspace, developer_id: null });
      return ok({ device_id: row.id, machine_name: row.machine_name }, 'Refused.');
    },
  }),
];

const machineTools: Implementation[] = [
  implement(listDevices, {
    read: async ({ limit, offset }, { reader, workspace, principal, clock }) => {
      const { rows, total } = await pageOf(devicesOf(reader, workspace, ownOnly(principal)).orderBy('id', 'desc'), { limit, offset });
      const ids = rows.map(({ id }) => id);
      const facts = {
        viewer: await viewerOf(reader, principal),
        now: clock.now(),
        tokens: await tokensOfDevices(reader, workspace, ids),
      };
      return ok({ items: rows.map((row) => viewDevice(row, facts)), total });
    },
  }),
  implement(revokeDevice, {
    write: async (tx, { device_id }, ctx) => {
      const device = await deviceNamed(tx.db, tx.workspace, device_id, ctx.principal);
      const live = (await tokensOfDevices(tx.db, tx.workspace, [device.id])).filter(({ revoked_at }) => revoked_at === null);
      for (const { id } of live) await endTokenById(tx, id, ctx.principal.actor);
      const revoked = live.map(({ id }) => id);
      // If the device has not fetched its approved tokens yet, it now gets none.
      const isWithdrawn = await changeGrant(tx.db, device.id, 'approved', { status: 'denied', decided_at: tx.now });
      if (revoked.length > 0 || isWithdrawn) record(tx, ctx, { category: 'work', kind: 'device.revoked', subject: device.id, payload: { token_ids: revoked } });
      if (isWithdrawn) return ok({ device_id: device.id, revoked }, 'Revoked. The device had not fetched its tokens and gets none.');
      return ok({ device_id: device.id, revoked }, `Revoked ${revoked.length === 1 ? '1 token' : `${revoked.length} tokens`}.`);
    },
  }),
];

/** Lists the waiting devices. They belong to no workspace yet, so they are listed only in the default workspace. */
export async function devicesToApprove(db: Db, workspace: string, now: number, limit: number) {
  const rows = workspace === DEFAULT_WORKSPACE_ID ? await waitingGrants(db, now, limit) : [];
  return rows.map(viewRequested);
}

type CodeCaller = Pick<CallContext, 'reader' | 'clock' | 'principal'>;

/** Increases the number of wrong codes. Must not run in a transaction: the database may repeat a transaction, and the attempt would count twice. */
async function requireTypedCode(
  { reader, clock, principal: { workspace, developerId, tokenId } }: CodeCaller,
  guesses: Guesses,
  code: string,
): Promise<DeviceGrantRow> {
  // Attempts are counted for each person, because a new sign-in must not reset the count.
  const who = `${workspace} ${developerId ?? tokenId}`;
  const now = clock.now();
  guesses.count(who, now);
  try {
    const row = await requireWaiting(reader, code, now);
    guesses.takeBack(who);
    return row;
  } catch (error) {
    // If the store failed, the code was not checked, so the attempt does not count.
    if (!(error instanceof Refusal)) guesses.takeBack(who);
    throw error;
  }
}

/** Finds the waiting request with this code. The refusal must be the same for a used, an expired and a mistyped code. */
async function requireWaiting(db: Db, code: string, now: number): Promise<DeviceGrantRow> {
  const row = await findPending(db, code);
  if (row && now <= row.expires_at) return row;
  throw notFound(
    'DEVICE_NOT_FOUND',
    'No device waits for approval with this code.',
    'Compare the code with the one on the device. It works once, for ten minutes; `covibe-local setup` on the device shows a new one.',
    'code',
  );
}

type DeviceDecision = Pick<DeviceGrantRow, 'status' | 'workspace_id' | 'developer_id'>;

async function decideRequest(tx: Tx, ctx: WriteContext, row: DeviceGrantRow, decision: DeviceDecision): Promise<void> {
  if (!(await changeGrant(tx.db, row.id, 'pending', { ...decision, decided_at: tx.now }))) {
    throw notFound(
      'DEVICE_NOT_FOUND',
      'This device was just approved or refused by another person.',
      'Run `covenant devices list` for the devices that are set up.',
    );
  }
  const kind = decision.status === 'approved' ? 'device.approved' : 'device.refused';
  record(tx, ctx, { category: 'work', kind, subject: row.id, payload: { source: row.source, agents: agentsOf(row), developer_id: decision.developer_id } });
}

/** Returns the developer whose devices the caller may see. Undefined for operators, who may see all devices. */
const ownOnly = ({ operator, developerId }: Principal): string | undefined => (operator ? undefined : (developerId ?? undefined));

const deviceNamed = (db: Db, workspace: string, tail: string, principal: Principal): Promise<DeviceGrantRow> =>
  findBySuffix(devicesOf(db, workspace, ownOnly(principal)), tail, 'device');

const agentsOf = (row: DeviceGrantRow): string[] => readJson(z.array(z.string()), row.agents);

const viewRequested = (row: DeviceGrantRow) => view(requested, row, { user_code: shownCode(row.user_code), asked_at: row.created_at });

interface DeviceFacts {
  readonly viewer: Viewer;
  readonly now: number;
  readonly tokens: readonly TokenRow[];
}

/** The machine name of a private developer is hidden, too, because people name their machines after themselves. */
function viewDevice(row: DeviceGrantRow, { viewer, now, tokens }: DeviceFacts): DeviceView {
  const owner = row.developer_id ?? '';
  const own = tokens.filter(({ created_by }) => created_by === makerOf(row.id));
  const agents = agentsOf(row).map((agent) => {
    const token = own.find(({ agent_type }) => agent_type === agent);
    return { agent, token_id: token?.id ?? null, live: token !== undefined && token.revoked_at === null, last_used_at: token?.last_used_at ?? null };
  });
  const used = own.flatMap(({ last_used_at }) => last_used_at ?? []);
  return {
    device_id: row.id,
    machine_name: viewer.show(owner, row.machine_name),
    developer_id: viewer.show(owner, owner),
    developer: viewer.name(owner),
    status: statusOf(row, agents, now),
    approved_at: row.decided_at ?? row.created_at,
    last_used_at: used.length > 0 ? Math.max(...used) : null,
    agents,
  };
}

function statusOf(row: DeviceGrantRow, agents: DeviceView['agents'], now: number): DeviceView['status'] {
  const state = requestState(row, now);
  if (state === 'expired') return 'expired';
  if (state !== 'consumed') return 'waiting';
  return agents.some(({ live }) => live) ? 'set up' : 'revoked';
}
