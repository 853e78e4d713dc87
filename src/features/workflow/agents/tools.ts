import { z } from 'zod';
import { type Principal, record } from '../../../kernel/call.ts';
import { invalidInput, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { insertRows, newId, readJson } from '../../../storage/rows.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import { type Viewer, viewerOf } from '../../core/identity/index.ts';
import { type AgentView, agentGet, agentHeartbeat, agentList, agentRegister, agentUnregister, agentUpdate } from './contract.ts';
import {
  type AgentPorts,
  changeAgent,
  HEARTBEAT_MS,
  isOwn,
  LEASE_MS,
  leaseEnd,
  leave,
  listAgents,
  requireAgent,
  requireOnline,
  requireOwnAgent,
  statusAt,
  touchAgent,
} from './presence.ts';

const strings = z.array(z.string());
const json = z.record(z.string(), z.unknown());

export const capabilitiesOf = ({ capabilities }: Pick<AgentRow, 'capabilities'>): string[] => readJson(strings, capabilities);

export interface AgentViewer extends Viewer {
  view(row: AgentRow): AgentView;
}

/** Of a private developer's agent others see that it is there and what it can do, and nothing that tells whose it is. */
export async function agentViewer(db: Db, principal: Principal, now: number): Promise<AgentViewer> {
  const viewer = await viewerOf(db, principal);
  const view = (row: AgentRow): AgentView => {
    const isSeen = viewer.sees(row.developer_id);
    const status = statusAt(row, now);
    return {
      id: row.id,
      name: viewer.show(row.developer_id, row.name),
      runtime: row.runtime,
      role: row.role,
      status,
      capabilities: capabilitiesOf(row),
      current_task_id: status === 'offline' ? null : row.current_task_id,
      workspace_path: isSeen ? row.workspace_path : null,
      metadata: isSeen && row.metadata !== null ? readJson(json, row.metadata) : null,
      developer: viewer.name(row.developer_id),
      mine: isOwn(row, principal),
      registered_at: row.registered_at,
      last_seen_at: row.last_seen_at,
      lease_expires_at: status === 'offline' ? null : leaseEnd(row),
    };
  };
  return { ...viewer, view };
}

function requireHeld(claims: readonly { task_id: string }[], taskId: string): void {
  if (claims.some(({ task_id }) => task_id === taskId)) return;
  throw new Refusal('NOT_ASSIGNED', `The agent has not claimed task ${JSON.stringify(taskId)}.`, 'Claim it with task_claim before you work on it.', {
    field: 'current_task_id',
    task_id: taskId,
  });
}

export function agentTools({ gone, claims: claimsOf, unread }: AgentPorts): Implementation[] {
  return [
    implement(agentRegister, {
      write: async (tx, { name, runtime, role, capabilities = [], workspace_path = null, metadata }, ctx) => {
        const { developerId, tokenId, actor } = ctx.principal;
        const row: AgentRow = {
          workspace_id: tx.workspace,
          id: newId('ag', tx.now),
          name,
          runtime,
          role,
          status: 'online',
          capabilities: JSON.stringify([...new Set(capabilities)]),
          current_task_id: null,
          workspace_path,
          metadata: metadata === undefined ? null : JSON.stringify(metadata),
          developer_id: developerId,
          token_id: tokenId,
          actor,
          registered_at: tx.now,
          last_seen_at: tx.now,
          updated_at: tx.now,
        };
        await insertRows(tx.db, 'agents', row);
        // Without its name: journals are read by more people than may know whose agent it is.
        record(tx, ctx, { category: 'work', kind: 'agent.registered', subject: row.id, payload: { runtime, role } });
        return ok({ id: row.id, name, status: 'online' as const, next_heartbeat_ms: HEARTBEAT_MS, lease_expires_at: tx.now + LEASE_MS });
      },
    }),
    implement(agentHeartbeat, {
      write: async (tx, { agent_id, current_task_id, status }, ctx) => {
        const agent = await requireOwnAgent(tx.db, ctx.principal, agent_id);
        requireOnline(agent, tx.now);
        const claims = await claimsOf(tx.db, tx.workspace, agent.id);
        if (current_task_id !== undefined) requireHeld(claims, current_task_id);
        await touchAgent(tx, agent, { ...(current_task_id === undefined ? {} : { current_task_id }), ...(status === undefined ? {} : { status }) });
        const mail = await unread(tx.db, tx.workspace, agent.id, tx.now);
        return ok({
          success: true as const,
          next_heartbeat_ms: HEARTBEAT_MS,
          unread_count: mail.count,
          unread_by_priority: mail.by_priority,
          claims: claims.map((claim) => ({ ...claim, lease_expires_at: tx.now + LEASE_MS })),
        });
      },
    }),
    implement(agentUpdate, {
      write: async (tx, { id, status, current_task_id, workspace_path, metadata }, ctx) => {
        const agent = await requireOwnAgent(tx.db, ctx.principal, id, 'id');
        const leaves = status === 'offline';
        if (!leaves) requireOnline(agent, tx.now);
        if (current_task_id && leaves) throw invalidInput([{ field: 'current_task_id', message: 'an agent that goes offline works on nothing' }]);
        if (current_task_id) requireHeld(await claimsOf(tx.db, tx.workspace, id), current_task_id);
        const told: Partial<AgentRow> = {
          ...(workspace_path === undefined ? {} : { workspace_path }),
          ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
        };
        if (leaves) await changeAgent(tx.db, tx.workspace, id, { ...told, updated_at: tx.now });
        else
          await touchAgent(tx, agent, { ...told, ...(status === undefined ? {} : { status }), ...(current_task_id === undefined ? {} : { current_task_id }) });
        const tasks_released = leaves ? await leave(tx, ctx, agent, 'agent.offline', gone) : undefined;
        const fields = Object.entries({ status, current_task_id, workspace_path, metadata }).flatMap(([field, value]) => (value === undefined ? [] : [field]));
        if (fields.length > 0) record(tx, ctx, { category: 'work', kind: 'agent.updated', subject: id, payload: { fields, status } });
        return ok({ success: true as const, ...(tasks_released === undefined ? {} : { tasks_released }) });
      },
    }),
    implement(agentGet, {
      read: async ({ id }, ctx) => {
        const agent = await requireAgent(ctx.reader, ctx.workspace, id, 'id');
        return ok((await agentViewer(ctx.reader, ctx.principal, ctx.clock.now())).view(agent));
      },
    }),
    implement(agentList, {
      read: async ({ limit, offset, ...filter }, ctx) => {
        const now = ctx.clock.now();
        const { rows, total } = await listAgents(ctx.reader, ctx.principal, filter, now, { limit, offset });
        return ok({ agents: rows.map((await agentViewer(ctx.reader, ctx.principal, now)).view), total });
      },
    }),
    implement(agentUnregister, {
      write: async (tx, { id }, ctx) => {
        const agent = await requireOwnAgent(tx.db, ctx.principal, id, 'id');
        return ok({ success: true as const, tasks_released: await leave(tx, ctx, agent, 'agent.unregistered', gone) });
      },
    }),
  ];
}
