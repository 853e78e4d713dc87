import { ALL_CLIENTS } from '../clients/index.ts';
import type { Services } from '../kernel/call.ts';
import type { Feature } from '../kernel/tool.ts';
import { capabilities } from './core/capabilities/index.ts';
import { devices } from './core/devices/index.ts';
import { type Anchors, events, Tally } from './core/events/index.ts';
import { hooks } from './core/hooks/index.ts';
import { endAllTokens, endTokenById, grantSubjects, type IdentityLimits, identity, instanceOwner, issueInstanceToken } from './core/identity/index.ts';
import { type ServerFacts, server } from './core/server/index.ts';
import { type Inventory, settings } from './core/settings/index.ts';
import { cycle } from './cycle/index.ts';
import { offeredTools, type ToolCatalogue, tools } from './gateway/tools/index.ts';
import { type DemoPorts, demo, demoHold } from './people/demo/index.ts';
import { lookup } from './people/lookup/index.ts';
import { roster, type WaitingPorts } from './people/roster/index.ts';
import { retention } from './retention.ts';
import { type InstanceOutside as AgentMachine, type InstancePorts, instances } from './review/instances/index.ts';
import { pulls } from './review/pulls/index.ts';
import { feedbackOf, reviews } from './review/reviews/index.ts';
import { coordination, heartbeatListener, releaseClaimsOf } from './team/coordination/index.ts';
import { notes } from './team/notes/index.ts';
import { createOverlap, type Embedder } from './team/overlap/index.ts';
import { latestContextOf, sessionFeature as sessions, standingContext } from './team/sessions/index.ts';
import { noteFiles, ownsTask, ownsWorkstream, takeOver, tasks } from './team/tasks/index.ts';
import { teamOverview } from './team/team-overview/index.ts';
import { usage } from './team/usage/index.ts';
import { agents, endStartedAgent, noteRunning, registerStartedAgent } from './workflow/agents/index.ts';
import { messages, sendDirectMessage, unreadOf } from './workflow/messages/index.ts';
import { oversight } from './workflow/oversight/index.ts';
import { recovery } from './workflow/recovery/index.ts';
import { repositories } from './workflow/repositories/index.ts';
import { steering } from './workflow/steering/index.ts';
import { claimsOf, releaseClaimsIn, releaseClaimsOf as releaseTasksOf, steps } from './workflow/steps/index.ts';
import { templates } from './workflow/templates/index.ts';
import { workflows } from './workflow/workflows/index.ts';
import { createWorktrees, type WorktreeOutside } from './workflow/worktrees/index.ts';

export interface FeatureParts {
  readonly services: Services;
  readonly catalogue: ToolCatalogue;
  readonly facts: ServerFacts;
  /** The anchors of the journals, in this server's home. */
  readonly anchors: Anchors;
  /** The manifest of the companion release that this server offers. */
  readonly companionManifest: string | undefined;
  /** The model that compares work. Null: work is compared only by its words and files. */
  readonly embedder: Embedder | null;
  /** Git and files on the server's machine, and the repositories that it may use. */
  readonly machine: WorktreeOutside & AgentMachine;
  /** All tools, all actions and all kinds of stored data. */
  readonly inventory: Inventory;
  readonly packageRoot: string;
  readonly limits: IdentityLimits;
  /** Returns the external servers with definitions that wait for a decision. */
  readonly undecided: WaitingPorts['undecided'];
  readonly demonstration: Pick<DemoPorts, 'home' | 'attach' | 'detach'>;
}

/**
 * Returns all features of the product, sorted by group. If a feature needs a function of a feature that it must not import, the
 * function is passed in here.
 */
export function productFeatures(parts: FeatureParts): Feature[] {
  const { services, catalogue, machine } = parts;
  const tally = new Tally();
  const overlap = createOverlap(services, parts.embedder);
  const worktrees = createWorktrees(services, machine);
  return [
    // core
    identity(parts.limits),
    capabilities(grantSubjects, { gate: catalogue.gate, tools: (workspace) => offeredTools(catalogue, workspace) }),
    events(services, tally, demoHold, parts.anchors),
    server(parts.facts),
    settings(parts.inventory),
    devices(parts.packageRoot),
    hooks(services, { ...sessionListeners, gate: catalogue.gate }),
    // gateway
    tools(catalogue, tally),
    // team
    overlap.feature,
    tasks(overlap.preflight),
    teamOverview(overlap.finder),
    notes({ ownsTask, ownsWorkstream }),
    coordination(services, { ownsTask, contextOf: latestContextOf, standingContext, onClaim: noteFiles, onHandoff: takeOver }),
    sessions(services, { ...sessionListeners, heartbeat: [heartbeatListener], manifest: parts.companionManifest }),
    usage,
    // workflow
    repositories,
    workflows(services, { onEnded: releaseClaimsIn }),
    agents(services, { releaseClaims: releaseTasksOf, claims: claimsOf, unread: unreadOf }),
    steps({ openWorktree: worktrees.openWorktree }),
    worktrees.feature,
    messages(services),
    recovery,
    templates,
    oversight,
    steering({ onEnded: releaseClaimsIn }),
    // cycle
    cycle(services, machine),
    // review
    instances(services, machine, instancePorts),
    reviews(services, machine, instancePorts),
    pulls(services, machine, instancePorts),
    // people
    lookup,
    roster(tally, { undecided: parts.undecided }),
    demo({ ...parts.demonstration, revokeTokens: endAllTokens }),
    // of all groups
    retention(services),
  ];
}

/** The functions to call for snapshots and session ends, whether an agent or its hooks report them. */
const sessionListeners = { snapshot: [noteFiles], end: [releaseClaimsOf] };

const instancePorts: InstancePorts = {
  registerAgent: (tx, { id, agent, worktree_path, developer_id }) =>
    registerStartedAgent(tx, {
      name: id,
      runtime: runtimeOf(agent),
      workspacePath: worktree_path,
      developerId: developer_id,
      actor: `instance:${id}`,
    }),
  agentSeen: noteRunning,
  agentLeaves: (tx, id, by) => endStartedAgent(tx, id, by, releaseTasksOf),
  sendMessage: (tx, message) => sendDirectMessage(tx, { message_type: 'notification', ...message }),
  issueToken: issueInstanceToken,
  revokeToken: endTokenById,
  developerOf: instanceOwner,
  feedbackOf,
};

/** Returns the runtime of an agent program that the server starts. For any program that Covenant does not know, it is `custom`. */
const runtimeOf = (program: string) => ALL_CLIENTS.flatMap(({ instance }) => instance ?? []).find(({ agent }) => agent === program)?.runtime ?? 'custom';
