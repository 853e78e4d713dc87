import { record } from '../../../kernel/call.ts';
import { invalidInput, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import { agentGet, agentHeartbeat, agentList, agentRegister, agentUnregister, agentUpdate } from './contract.ts';
import { leave, type ReleaseClaims } from './leaving.ts';
import { addAgent, changeAgent, HEARTBEAT_MS, LEASE_MS, requireAgent, requireOnline, requireOwnAgent, touchAgent } from './presence.ts';
import { agentViewer, listAgents } from './views.ts';

interface UnreadCounts {
  readonly count: number;
  readonly by_priority: Record<string, number>;
}

/** Functions that other features provide, because this feature may not import them. */
export interface AgentPorts {
  readonly releaseClaims: ReleaseClaims;
  claims(db: Db, workspace: string, agentId: string): Promise<{ task_id: string; fence: number }[]>;
  unread(db: Db, workspace: string, agentId: string, now: number): Promise<UnreadCounts>;
}

export function agentTools({ releaseClaims, claims: claimsOf, unread }: AgentPorts): Implementation[] {
  return [
    implement(agentRegister, {
      write: async (tx, { name, runtime, role, capabilities = [], workspace_path = null, metadata }, ctx) => {
        const { developerId, tokenId, actor } = ctx.principal;
        const { id } = await addAgent(tx, {
          name,
          runtime,
          role,
          capabilities: JSON.stringify([...new Set(capabilities)]),
          workspace_path,
          metadata: metadata === undefined ? null : JSON.stringify(metadata),
          developer_id: developerId,
          token_id: tokenId,
          actor,
        });
        // The event leaves out the agent's name. A name may reveal the owner, and some readers of the journal may not learn who owns the agent.
        record(tx, ctx, { category: 'work', kind: 'agent.registered', subject: id, payload: { runtime, role } });
        return ok({ id, name, status: 'online' as const, next_heartbeat_ms: HEARTBEAT_MS, lease_expires_at: tx.now + LEASE_MS });
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
        if (current_task_id && leaves) throw invalidInput([{ field: 'current_task_id', message: 'is not allowed with status offline' }]);
        if (current_task_id) requireHeld(await claimsOf(tx.db, tx.workspace, id), current_task_id);
        const values: Partial<AgentRow> = {
          ...(workspace_path === undefined ? {} : { workspace_path }),
          ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
        };
        if (leaves) await changeAgent(tx.db, tx.workspace, id, { ...values, updated_at: tx.now });
        else
          await touchAgent(tx, agent, {
            ...values,
            ...(status === undefined ? {} : { status }),
            ...(current_task_id === undefined ? {} : { current_task_id }),
          });
        const tasks_released = leaves ? await leave(tx, ctx, agent, 'agent.offline', releaseClaims) : undefined;
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
        return ok({ success: true as const, tasks_released: await leave(tx, ctx, agent, 'agent.unregistered', releaseClaims) });
      },
    }),
  ];
}

function requireHeld(claims: readonly { task_id: string }[], taskId: string): void {
  if (claims.some(({ task_id }) => task_id === taskId)) return;
  throw new Refusal(
    'NOT_ASSIGNED',
    `The agent has not claimed task ${JSON.stringify(taskId)}.`,
    `Claim it first: task_claim with task_id ${JSON.stringify(taskId)} and your agent_id.`,
    {
      field: 'current_task_id',
      task_id: taskId,
    },
  );
}
