import { z } from 'zod';
import { contract, MEMBER_READ } from '../../../kernel/contract.ts';

/** States of an agent as people see them, most urgent first. */
export const AGENT_STATES = ['waiting', 'lost', 'blocked', 'working', 'quiet', 'stale', 'ended'] as const;
export type AgentState = (typeof AGENT_STATES)[number];

const SPAN_ENDS = ['held', 'done', 'failed', 'released', 'lost'] as const;
export type WorkSpanEnd = (typeof SPAN_ENDS)[number];

const agentId = z.string().min(1).max(120).describe('Id from agents.list (`codex@dev_…`, or the id of an instance), or name (`codex@mira`).');
/** The path of a page on the dashboard, relative to its root. */
const path = z.string().nullable().describe('Its page on the dashboard.');
const agentRef = { name: z.string(), agent_id: z.string().nullable().describe('Null for a private developer.') };
const held = z.strictObject({ kind: z.enum(['task', 'step', 'claim', 'lock', 'instance']), id: z.string(), title: z.string(), path });

const refusal = z.strictObject({
  seq: z.int(),
  time: z.int(),
  asked: z.string(),
  outcome: z.string(),
  code: z.string().nullable(),
  message: z.string().nullable().describe('The message of the refusal; null if only the caller may read it.'),
  required_action: z.string().nullable(),
  warning_id: z.string().nullable().describe('The overlap that caused the refusal.'),
  edit: z
    .strictObject({ path: z.string(), claim_id: z.string(), client: z.string(), tool: z.string().nullable() })
    .nullable()
    .describe('The edit that a hook blocked, and the claim that blocks it.'),
});
export type RecentRefusal = z.input<typeof refusal>;

const cost = z.strictObject({
  usd: z.number().nullable().describe('Null: no known price.'),
  unpriced: z.int().describe('Number of usage spans without a known price.'),
});

const agentRow = z.strictObject({
  ...agentRef,
  state: z.enum(AGENT_STATES),
  doing: z.strictObject({ text: z.string(), path }).nullable(),
  holds: z.strictObject({ tasks: z.int(), steps: z.int(), claims: z.int(), locks: z.int(), first: z.array(held).describe('The first few of these items.') }),
  last_seen_at: z.int().nullable(),
  refused_24h: z.int(),
  cost_24h: cost.nullable().describe('Null: nothing reported.'),
  why_blocked: refusal.nullable().describe('If the agent is blocked: the refusal that its last call received.'),
  instance_id: z.string().nullable(),
  registered: z.array(z.string()).describe('Ids (`ag_…`) that `agent_register` gave this agent.'),
});
export type RosterAgent = z.input<typeof agentRow>;

export const agentsList = contract({
  ...MEMBER_READ,
  name: 'agents.list',
  title: 'Agents at work',
  description: 'List agents, most urgent first, with state, activity, held work, refusals and cost.',
  input: z.strictObject({ limit: z.int().min(1).max(500).default(100), offset: z.int().min(0).default(0) }),
  output: z.strictObject({
    items: z.array(agentRow),
    total: z.int(),
    states: z.record(z.enum(AGENT_STATES), z.int()).describe('Number of agents in each state, including agents that are not listed.'),
  }),
});

export const shownSpan = z.strictObject({
  kind: z.enum(['task', 'step', 'instance']),
  id: z.string(),
  title: z.string(),
  path,
  from: z.int(),
  to: z.int().nullable().describe('Null: held now.'),
  end: z.enum(SPAN_ENDS),
  reason: z.string().nullable(),
});
export type ShownSpan = z.input<typeof shownSpan>;

const checkpoint = z.strictObject({ sequence: z.int(), type: z.string(), summary: z.string(), created_at: z.int() });

export const heldTask = z.strictObject({ task_id: z.string(), title: z.string(), status: z.string(), since: z.int(), path });

export const heldStep = z.strictObject({
  task_id: z.string(),
  name: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string().nullable(),
  agent_id: z.string(),
  fence: z.int(),
  claimed_at: z.int().nullable(),
  lease_expires_at: z.int().nullable(),
  path,
});

export const heldClaim = z.strictObject({
  claim_id: z.string(),
  repo: z.string(),
  patterns: z.array(z.string()),
  mode: z.string(),
  reason: z.string().nullable(),
  expires_at: z.int(),
  path,
});

const heldLock = z.strictObject({ cycle: z.string(), feature: z.string(), role: z.string(), since: z.int(), session_expires_at: z.int(), path });

export const reportedWorktree = z.strictObject({
  repo: z.string(),
  branch: z.string().nullable(),
  worktree: z.string().nullable(),
  head: z.string().nullable(),
  dirty: z.array(z.string()),
  dirty_count: z.int(),
  unpushed: z.array(z.string()),
  unpushed_count: z.int(),
  reported_at: z.int(),
});

export const recentSession = z.strictObject({
  session_id: z.string(),
  model: z.string().nullable(),
  repo: z.string().nullable(),
  branch: z.string().nullable(),
  started_at: z.int(),
  last_seen_at: z.int(),
  ended_at: z.int().nullable(),
});

export const registeredAgent = z.strictObject({
  agent_id: z.string(),
  name: z.string(),
  runtime: z.string(),
  role: z.string(),
  status: z.string(),
  last_seen_at: z.int(),
});

export const standingGrant = z.strictObject({
  grant_id: z.string(),
  subject: z.string(),
  action: z.string(),
  status: z.string(),
  expires_at: z.int().nullable(),
});

export const carriedToken = z.strictObject({
  token_id: z.string(),
  label: z.string(),
  last_used_at: z.int().nullable(),
  status: z.enum(['live', 'expired', 'revoked']),
});

export const agentsShow = contract({
  ...MEMBER_READ,
  name: 'agents.show',
  title: 'An agent',
  description: 'Show an agent: its activity, held and recent work, last block and grants.',
  input: z.strictObject({ agent_id: agentId }),
  output: z.strictObject({
    agent: agentRow,
    tasks: z.array(heldTask),
    steps: z.array(heldStep),
    claims: z.array(heldClaim),
    locks: z.array(heldLock),
    work: z
      .array(
        z.strictObject({
          ...shownSpan.shape,
          checkpoint: checkpoint.nullable().describe("The agent's last checkpoint of this work."),
          taken_by: z.strictObject(agentRef).nullable().describe('The agent that claimed the work after it was lost.'),
          taken_at: z.int().nullable(),
        }),
      )
      .describe('Work that the agent held in the last day, latest first.'),
    worktrees: z.array(reportedWorktree),
    sessions: z.array(recentSession),
    registered: z.array(registeredAgent),
    refusals: z.array(refusal).describe('From the last day, newest first.'),
    grants: z.array(standingGrant).nullable().describe('Grants that apply to the agent. Null unless the caller is an operator or the developer of the agent.'),
    tokens: z.array(carriedToken).nullable().describe('Null unless the caller is an operator or the developer of the agent.'),
    calls: z.strictObject({ times: z.array(z.int()), granted: z.array(z.int()), refused: z.array(z.int()) }).describe('By minute, up to now.'),
  }),
});

export const agentsLanes = contract({
  ...MEMBER_READ,
  name: 'agents.lanes',
  title: 'Who held what',
  description: 'Show the work that each agent held or lost in the last hours, one lane per agent.',
  input: z.strictObject({ hours: z.int().min(1).max(24).default(12) }),
  output: z.strictObject({
    from: z.int(),
    to: z.int(),
    lanes: z.array(z.strictObject({ ...agentRef, spans: z.array(shownSpan) })),
    cut: z.boolean().describe('More lanes or spans exist than are listed.'),
  }),
});

export const agentsRelease = contract({
  name: 'agents.release',
  toolset: 'admin',
  title: 'Release what an agent holds',
  description: 'Releases the steps and claims of an agent, as if the agent had left, so that other agents can claim them. Its tasks stay with their developer.',
  input: z.strictObject({ agent_id: agentId }),
  output: z.strictObject({ agent_id: z.string(), steps_released: z.int(), claims_released: z.int() }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const NEWS = ['finished', 'failed', 'decided'] as const;

const newsItem = z.strictObject({
  seq: z.int(),
  news: z.enum(NEWS),
  what: z.string().describe('Kind of item: task, step, workflow, decision…'),
  title: z.string(),
  details: z.string().nullable(),
  by: z.strictObject(agentRef),
  time: z.int(),
  path,
});
export type NewsItem = z.input<typeof newsItem>;

export const newsList = contract({
  ...MEMBER_READ,
  name: 'news.list',
  title: 'What happened since',
  description: 'List what finished, failed or was decided since a time, newest first. At most three days back.',
  input: z.strictObject({
    since: z.int().min(0).optional().describe('Epoch milliseconds. Default: one day ago.'),
    limit: z.int().min(1).max(200).default(50),
  }),
  output: z.strictObject({
    since: z.int().describe('Start of the period that this answer covers.'),
    items: z.array(newsItem),
    counts: z.record(z.enum(NEWS), z.int()).describe('Number of items of each kind, including items that are not listed.'),
  }),
});

export const WAITING_KINDS = ['question', 'call', 'ask', 'handoff', 'review', 'overlap', 'definition', 'device'] as const;

const waitingItem = z.strictObject({
  kind: z.enum(WAITING_KINDS),
  id: z.string().describe('The id of the item. For a device: its code. For a definition: its server.'),
  who: z.string().nullable().describe('Who waits. Null for an overlap of your own work.'),
  sentence: z.string().describe('What the item is about. Mostly a text that an agent wrote.'),
  since: z.int().nullable(),
  deadline: z.int().nullable(),
  pressing: z.boolean(),
  command: z.string().describe('Command that settles it.'),
});

export const waitingList = contract({
  ...MEMBER_READ,
  name: 'waiting.list',
  title: 'What waits on you',
  description:
    'List the items that wait for the caller. Items with a deadline come first, nearest deadline first, then the items that have waited longest. Operators see held calls, devices and changed definitions. Developers see asks, handoffs and overlaps that concern them. Everybody sees questions and spent reviews.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(waitingItem), cut: z.boolean().describe('More exist than are listed.') }),
});

export const firstSteps = contract({
  ...MEMBER_READ,
  name: 'team.first_steps',
  title: 'First steps of a team',
  description: 'Show the progress of a new team: whether an agent has connected, whether it has called a tool, and the first overlap that was found.',
  input: z.strictObject({}),
  output: z.strictObject({
    connected: z.boolean(),
    called: z.boolean(),
    warning_id: z.string().nullable().describe('The first overlap that required a verdict.'),
    finished: z.boolean().describe('A task was completed, so the first steps are done.'),
  }),
});
