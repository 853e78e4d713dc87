import { z } from 'zod';
import { contract, details, id, READ, text, title } from '../../../kernel/contract.ts';

const AGENT_STATUSES = ['online', 'offline', 'busy'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];
export const RUNTIMES = ['claude_code', 'codex', 'opencode', 'custom', 'gemini', 'cursor'] as const;
export type Runtime = (typeof RUNTIMES)[number];
export const ROLES = ['coordinator', 'worker'] as const;
export type Role = (typeof ROLES)[number];

const DEFAULT_LIST = 100;
const MAX_LISTED = 500;

const workspacePath = text(1_000).describe('Directory of the agent, on its own machine.');
const currentTask = id.describe('The claimed task that the agent works on.');
const own = id.describe('Your agent, from agent_register.');

export const agentView = z.strictObject({
  id: z.string(),
  name: z.string(),
  runtime: z.enum(RUNTIMES),
  role: z.enum(ROLES),
  status: z.enum(AGENT_STATUSES),
  capabilities: z.array(z.string()),
  current_task_id: z.string().nullable(),
  workspace_path: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  developer: z.string().nullable().describe('Owner of the agent; null for the operator.'),
  mine: z.boolean(),
  registered_at: z.int(),
  last_seen_at: z.int(),
  lease_expires_at: z.int().nullable().describe('When its claims expire if it stays silent; null when it is offline.'),
});
export type AgentView = z.output<typeof agentView>;

export const agentRegister = contract({
  name: 'agent_register',
  toolset: 'workflow',
  title: 'Register an agent',
  description:
    'Registers a new agent. Call it first. Keep the id: claims, messages and heartbeats use it. Call agent_heartbeat every 30 seconds; after 90 seconds of silence the agent is offline and must register again.',
  input: z.strictObject({
    name: title.max(200).describe('Display name.'),
    runtime: z.enum(RUNTIMES),
    role: z.enum(ROLES).default('worker'),
    capabilities: z.array(title.max(60)).max(50).optional().describe('What it can do. task_get_available offers no task that needs more.'),
    workspace_path: workspacePath.optional(),
    metadata: details.optional(),
  }),
  output: z.strictObject({ id: z.string(), name: z.string(), status: z.literal('online'), next_heartbeat_ms: z.int(), lease_expires_at: z.int() }),
});

export const agentHeartbeat = contract({
  name: 'agent_heartbeat',
  essential: true,
  toolset: 'workflow',
  title: 'Keep an agent online',
  description:
    'Reports that your agent is alive, and renews the leases of all its claims. Call it again after next_heartbeat_ms. Returns its claims and its number of unread messages: read them with message_list. INVALID_STATE: the agent was silent for too long and lost its claims; register again.',
  input: z.strictObject({ agent_id: own, current_task_id: currentTask.optional(), status: z.enum(['online', 'busy']).optional() }),
  output: z.strictObject({
    success: z.literal(true),
    next_heartbeat_ms: z.int(),
    unread_count: z.int(),
    unread_by_priority: z.record(z.string(), z.int()),
    claims: z.array(z.strictObject({ task_id: z.string(), fence: z.int(), lease_expires_at: z.int() })),
  }),
  annotations: { idempotentHint: true },
});

export const agentUpdate = contract({
  name: 'agent_update',
  toolset: 'workflow',
  title: 'Change an agent',
  description:
    'Changes stored data of your agent. Counts as a heartbeat. status offline releases all its claims, as agent_unregister does, and is final: register again.',
  input: z.strictObject({
    id: own,
    status: z.enum(AGENT_STATUSES).optional(),
    current_task_id: currentTask.nullable().optional(),
    workspace_path: workspacePath.optional(),
    metadata: details.optional().describe('Replaces the stored value.'),
  }),
  output: z.strictObject({ success: z.literal(true), tasks_released: z.int().optional() }),
  annotations: { idempotentHint: true },
});

export const agentGet = contract({
  name: 'agent_get',
  toolset: 'workflow',
  title: 'Look at an agent',
  description: 'Any agent of the workspace.',
  input: z.strictObject({ id }),
  output: agentView,
  annotations: READ,
});

export const agentList = contract({
  name: 'agent_list',
  toolset: 'workflow',
  title: 'List agents',
  description: 'Agents of the workspace, newest first. An agent must match every filter given.',
  input: z.strictObject({
    status: z.array(z.enum(AGENT_STATUSES)).min(1).max(AGENT_STATUSES.length).optional(),
    role: z.enum(ROLES).optional(),
    runtime: z.string().max(60).optional().describe("Other people's private agents count as custom."),
    limit: z.int().min(1).max(MAX_LISTED).default(DEFAULT_LIST),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  output: z.strictObject({ agents: z.array(agentView), total: z.int() }),
  annotations: READ,
});

export const agentUnregister = contract({
  name: 'agent_unregister',
  essential: true,
  toolset: 'workflow',
  title: 'Unregister an agent',
  description: 'Takes your agent offline and releases its claims, so others can claim the tasks. Call it when done.',
  input: z.strictObject({ id: own }),
  output: z.strictObject({ success: z.literal(true), tasks_released: z.int() }),
  annotations: { idempotentHint: true },
});
