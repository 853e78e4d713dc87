import { z } from 'zod';
import { CLIENT_NAMES } from '../../../clients/client.ts';
import { type CallContext, type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { notFound, ok, Refusal } from '../../../kernel/reply.ts';
import { findBySuffix } from '../../../kernel/tail.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRows, matching, pageOf, readJson, view } from '../../../storage/rows.ts';
import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { endTokenById, selfOrNamedDeveloper, type TokenRow, type Viewer, viewerOf } from '../identity/index.ts';
import { installCommand, overHttp, overStdio, setupBlock, watchCommand } from './connections.ts';
import { agentSetup, approveDevice, type DeviceView, findDevice, listDevices, refuseDevice, requested, revokeDevice, waitingDevices } from './contract.ts';
import { shownCode, standingOf } from './desk.ts';
import { Guesses } from './guesses.ts';
import { changeGrant, devicesOf, findPending, makerOf, tokensOfDevices, waitingGrants } from './store.ts';

const MAX_WAITING = 50;

/** `packageRoot`: the folder of this package, from which another machine's companion can be installed. */
export const deviceTools = (packageRoot: string): Implementation[] => [...requestTools(new Guesses()), ...machineTools(packageRoot)];

const requestTools = (guesses: Guesses): Implementation[] => [
  implement(findDevice, {
    read: async ({ code }, ctx) => ok(viewRequested(await tried(ctx, guesses, code))),
  }),
  implement(waitingDevices, {
    read: async (_input, { reader, workspace, clock }) => ok({ items: await devicesToApprove(reader, workspace, clock.now(), MAX_WAITING) }),
  }),
  implement(approveDevice, {
    prepare: async ({ code }, ctx) => void (await tried(ctx, guesses, code)),
    write: async (tx, { code, developer: named }, ctx) => {
      const row = await waitingFor(tx.db, code, tx.now);
      const developer = await selfOrNamedDeveloper(tx, named, ctx);
      await settle(tx, ctx, row, { status: 'approved', workspace_id: tx.workspace, developer_id: developer.id });
      const { id: device_id, machine_name } = row;
      return ok({ device_id, machine_name, agents: agentsOf(row), developer: developer.name }, 'Approved. The device fetches its tokens within seconds.');
    },
  }),
  implement(refuseDevice, {
    prepare: async ({ code }, ctx) => void (await tried(ctx, guesses, code)),
    write: async (tx, { code }, ctx) => {
      const row = await waitingFor(tx.db, code, tx.now);
      await settle(tx, ctx, row, { status: 'denied', workspace_id: tx.workspace, developer_id: null });
      return ok({ device_id: row.id, machine_name: row.machine_name }, 'Refused.');
    },
  }),
];

const machineTools = (packageRoot: string): Implementation[] => [
  implement(listDevices, {
    read: async ({ limit, offset }, { reader, workspace, principal, clock }) => {
      const { rows, total } = await pageOf(devicesOf(reader, workspace, ownOnly(principal)).orderBy('id', 'desc'), { limit, offset });
      const ids = rows.map(({ id }) => id);
      const around = {
        viewer: await viewerOf(reader, principal),
        now: clock.now(),
        tokens: await tokensOfDevices(reader, workspace, ids),
      };
      return ok({ items: rows.map((row) => viewDevice(row, around)), total });
    },
  }),
  implement(revokeDevice, {
    write: async (tx, { device_id }, ctx) => {
      const device = await deviceNamed(tx.db, tx.workspace, device_id, ctx.principal);
      const live = (await tokensOfDevices(tx.db, tx.workspace, [device.id])).filter(({ revoked_at }) => revoked_at === null);
      for (const { id } of live) await endTokenById(tx, id, ctx.principal.actor);
      const revoked = live.map(({ id }) => id);
      // Approved, and not fetched yet: it gets nothing any more.
      const isWithdrawn = await changeGrant(tx.db, device.id, 'approved', { status: 'denied', decided_at: tx.now });
      if (revoked.length > 0 || isWithdrawn) record(tx, ctx, { category: 'work', kind: 'device.revoked', subject: device.id, payload: { token_ids: revoked } });
      if (isWithdrawn) return ok({ device_id: device.id, revoked }, 'The device had not fetched its tokens, and gets none.');
      return ok({ device_id: device.id, revoked }, `Revoked ${revoked.length === 1 ? '1 token' : `${revoked.length} tokens`}.`);
    },
  }),
  implement(agentSetup, {
    read: async ({ base_url, cwd }, { reader, principal }) => ok(await setupFor(reader, principal, { baseUrl: base_url, cwd, packageRoot })),
  }),
];

/** They belong to no workspace yet: the default one looks after them. */
export async function devicesToApprove(db: Db, workspace: string, now: number, limit: number) {
  const rows = workspace === DEFAULT_WORKSPACE_ID ? await waitingGrants(db, now, limit) : [];
  return rows.map(viewRequested);
}

type Trying = Pick<CallContext, 'reader' | 'clock' | 'principal'>;

/** Counts what is wrong, and so not in a transaction, which may run again. */
async function tried({ reader, clock, principal: { workspace, developerId, tokenId } }: Trying, guesses: Guesses, code: string): Promise<DeviceGrantRow> {
  // By the person: whoever is signed in can sign in again.
  const who = `${workspace} ${developerId ?? tokenId}`;
  const now = clock.now();
  guesses.count(who, now);
  try {
    const row = await waitingFor(reader, code, now);
    guesses.takeBack(who);
    return row;
  } catch (error) {
    // That the store failed says nothing of the code.
    if (!(error instanceof Refusal)) guesses.takeBack(who);
    throw error;
  }
}

/** A code that was used, has run out or was mistyped reads the same. */
async function waitingFor(db: Db, code: string, now: number): Promise<DeviceGrantRow> {
  const row = await findPending(db, code);
  if (row && now <= row.expires_at) return row;
  throw notFound(
    'DEVICE_NOT_FOUND',
    'No device waits with this code.',
    'Compare it with what the device shows; a code serves once, within ten minutes.',
    'code',
  );
}

type Decision = Pick<DeviceGrantRow, 'status' | 'workspace_id' | 'developer_id'>;

async function settle(tx: Tx, ctx: WriteContext, row: DeviceGrantRow, decision: Decision): Promise<void> {
  if (!(await changeGrant(tx.db, row.id, 'pending', { ...decision, decided_at: tx.now }))) {
    throw notFound('DEVICE_NOT_FOUND', 'Somebody else has just decided on this device.', 'covenant devices list shows those that are set up.');
  }
  const kind = decision.status === 'approved' ? 'device.approved' : 'device.refused';
  record(tx, ctx, { category: 'work', kind, subject: row.id, payload: { source: row.source, agents: agentsOf(row), developer_id: decision.developer_id } });
}

/** Whose devices a caller sees: operators everybody's. */
const ownOnly = ({ operator, developerId }: Principal): string | undefined => (operator ? undefined : (developerId ?? undefined));

const deviceNamed = (db: Db, workspace: string, tail: string, principal: Principal): Promise<DeviceGrantRow> =>
  findBySuffix(devicesOf(db, workspace, ownOnly(principal)), tail, 'device');

const PLACEHOLDER = 'YOUR_TOKEN';
const UNKNOWN_FOLDER = '/path/to/your/repository';
const MAX_REPOSITORIES = 50;

interface SetupTarget {
  readonly baseUrl: string;
  readonly cwd: string | undefined;
  readonly packageRoot: string;
}

async function setupFor(db: Db, principal: Principal, { baseUrl, cwd: given, packageRoot }: SetupTarget): Promise<Output<typeof agentSetup>> {
  const repositories = await knownFolders(db, principal);
  const cwd = given ?? repositories[0] ?? UNKNOWN_FOLDER;
  const place = { baseUrl, cwd };
  return {
    placeholder: PLACEHOLDER,
    cwd,
    cwd_known: cwd !== UNKNOWN_FOLDER,
    repositories,
    clients: CLIENT_NAMES.map((client) => ({ client, http: overHttp(client, `${baseUrl}/mcp`, PLACEHOLDER), stdio: overStdio(client, place) })),
    install: installCommand(packageRoot),
    block: setupBlock(place, packageRoot),
    watch: watchCommand(baseUrl),
  };
}

/** Those that the developer's own machines reported first: where somebody else keeps theirs is of no use. */
async function knownFolders(db: Db, { workspace, developerId }: Principal): Promise<string[]> {
  const own = await matching(db, 'registered_repos', { workspace_id: workspace, developer_id: developerId ?? '', path: { '!=': null } })
    .select('path')
    .distinct()
    .orderBy('path')
    .limit(MAX_REPOSITORIES)
    .execute();
  const others = await findRows(db, 'repositories', { workspace_id: workspace }, { order: { updated_at: 'desc' }, limit: MAX_REPOSITORIES });
  return [...new Set([...own, ...others].flatMap(({ path }) => path ?? []))].slice(0, MAX_REPOSITORIES);
}

const agentsOf = (row: DeviceGrantRow): string[] => readJson(z.array(z.string()), row.agents);

const viewRequested = (row: DeviceGrantRow) => view(requested, row, { user_code: shownCode(row.user_code), asked_at: row.created_at });

interface Around {
  readonly viewer: Viewer;
  readonly now: number;
  readonly tokens: readonly TokenRow[];
}

/** People call their machines by their own names: a private developer's is private too. */
function viewDevice(row: DeviceGrantRow, { viewer, now, tokens }: Around): DeviceView {
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
  const standing = standingOf(row, now);
  if (standing === 'expired') return 'expired';
  if (standing !== 'consumed') return 'waiting';
  return agents.some(({ live }) => live) ? 'set up' : 'revoked';
}
