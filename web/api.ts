import type * as approvals from '../src/features/core/approvals/contract.ts';
import type * as capabilities from '../src/features/core/capabilities/contract.ts';
import type * as devices from '../src/features/core/devices/contract.ts';
import type * as events from '../src/features/core/events/contract.ts';
import type * as identity from '../src/features/core/identity/contract.ts';
import type * as settings from '../src/features/core/settings/contract.ts';
import type * as cycles from '../src/features/cycle/contract.ts';
import type * as upstreams from '../src/features/gateway/servers/contract.ts';
import type * as gateway from '../src/features/gateway/tools/contract.ts';
import type * as lookup from '../src/features/people/lookup/contract.ts';
import type * as roster from '../src/features/people/roster/contract.ts';
import type * as instances from '../src/features/review/instances/contract.ts';
import type * as coordination from '../src/features/team/coordination/contract.ts';
import type * as overlap from '../src/features/team/overlap/contract.ts';
import type * as tasks from '../src/features/team/tasks/contract.ts';
import type * as team from '../src/features/team/team-overview/contract.ts';
import type * as telemetry from '../src/features/team/usage/contract.ts';
import type * as workstreams from '../src/features/team/workstreams/contract.ts';
import type * as messages from '../src/features/workflow/messages/contract.ts';
import type * as oversight from '../src/features/workflow/oversight/contract.ts';
import type * as repositories from '../src/features/workflow/repositories/contract.ts';
import type * as steering from '../src/features/workflow/steering/contract.ts';
import type * as threads from '../src/features/workflow/threads/contract.ts';
import type { Output, Sent } from '../src/kernel/contract.ts';
import { type Account, forgetProof, lastAccount, type SignedIn, storedProof } from './session.ts';

/** The actions that the dashboard calls, each with the server's own contract. These answer with their data alone. */
interface PlainActions {
  'identity.me': typeof identity.whoAmI;
  'tokens.list': typeof identity.listTokens;
  'tokens.create': typeof identity.createToken;
  'tokens.revoke': typeof identity.revokeToken;
  'tokens.rotate': typeof identity.rotateToken;
  'session.end': typeof identity.endSession;
  'session.ticket': typeof identity.sessionTicket;
  'signin.link': typeof identity.createSigninLink;
  'developers.list': typeof identity.listDevelopers;
  'developers.set_visibility': typeof identity.setVisibility;
  'developers.sign_out': typeof identity.signOutDeveloper;
  'devices.find': typeof devices.findDevice;
  'devices.waiting': typeof devices.waitingDevices;
  'devices.approve': typeof devices.approveDevice;
  'devices.refuse': typeof devices.refuseDevice;
  'devices.list': typeof devices.listDevices;
  'devices.revoke': typeof devices.revokeDevice;
  'setup.agents': typeof devices.agentSetup;
  'settings.list': typeof settings.settingsList;
  'settings.set': typeof settings.settingsSet;
  'roles.list': typeof settings.rolesList;
  'retention.list': typeof settings.retentionList;
  'events.list': typeof events.listEvents;
  'events.rate': typeof events.eventRate;
  'events.verify': typeof events.verifyEvents;
  'usage.list': typeof telemetry.listUsage;
  'prices.list': typeof telemetry.listPrices;
  'prices.set': typeof telemetry.setPrice;
  'instances.list': typeof instances.instancesList;
  'instances.show': typeof instances.instancesShow;
  'instances.diff': typeof instances.instancesDiff;
  'instances.sizes': typeof instances.instancesSizes;
  'instances.unsaved': typeof instances.instancesUnsaved;
  'instances.message': typeof instances.instancesMessage;
  'instances.allow_review': typeof instances.instancesAllowReview;
  'instances.stop': typeof instances.instancesStop;
  'instances.abandon': typeof instances.instancesAbandon;
  'cycles.list': typeof cycles.cyclesList;
  'cycles.show': typeof cycles.cyclesShow;
  'cycles.handoffs': typeof cycles.cyclesHandoffs;
  'cycles.handoff': typeof cycles.cyclesHandoff;
  'cycles.complete': typeof cycles.cyclesComplete;
  'cycles.archive': typeof cycles.cyclesArchive;
  'cycles.cancel': typeof cycles.cyclesCancel;
  'cycles.close_session': typeof cycles.cyclesCloseSession;
  'messages.threads': typeof threads.listThreads;
  'messages.thread': typeof threads.showThread;
  'messages.answer': typeof threads.answerThread;
  'messages.remind': typeof threads.remindThread;
  'messages.recipients': typeof threads.listRecipients;
  'messages.broadcast': typeof threads.broadcastByHand;
  'lookup.find': typeof lookup.find;
  'agents.list': typeof roster.agentsList;
  'agents.show': typeof roster.agentsShow;
  'agents.lanes': typeof roster.agentsLanes;
  'agents.release': typeof roster.agentsRelease;
  'news.list': typeof roster.newsList;
  'waiting.list': typeof roster.waitingList;
  'team.first_steps': typeof roster.firstSteps;
  'repositories.list': typeof repositories.repositoriesAtWork;
  'tasks.list': typeof tasks.listTasks;
  'tasks.show': typeof tasks.showTask;
  'tasks.owners': typeof tasks.taskOwners;
  'workstreams.show': typeof workstreams.showWorkstream;
  'claims.list': typeof coordination.listClaims;
  'claims.show': typeof coordination.showClaim;
  'claims.release': typeof coordination.releaseByHand;
  'overlap.list': typeof overlap.listOverlaps;
  'overlap.show': typeof overlap.showOverlap;
  'overlap.dismiss': typeof overlap.dismissByHand;
  'approvals.list': typeof approvals.listApprovals;
  'approvals.approve': typeof approvals.approveCall;
  'approvals.refuse': typeof approvals.refuseCall;
  'capabilities.list': typeof capabilities.listCapabilities;
  'capabilities.grant': typeof capabilities.grantCapability;
  'capabilities.revoke': typeof capabilities.revokeCapability;
  'capabilities.explain': typeof capabilities.explainCapability;
  'capabilities.matrix': typeof capabilities.capabilityMatrix;
  'tools.page': typeof gateway.pageOfTools;
  'tools.show': typeof gateway.showTool;
  'tools.usage': typeof gateway.toolUsage;
  'servers.list': typeof upstreams.listServers;
  'servers.restart': typeof upstreams.restartServer;
  'servers.approve': typeof upstreams.approveServer;
  'servers.reject': typeof upstreams.rejectServer;
  'servers.forget': typeof upstreams.forgetServer;
  'servers.logs': typeof upstreams.serverLogs;
  'questions.list': typeof messages.listQuestions;
  'questions.answer': typeof messages.answerQuestion;
  'team.state': typeof team.readState;
  'workflows.list': typeof oversight.workflowsList;
  'workflows.show': typeof oversight.workflowsShow;
  'workflows.tasks': typeof oversight.workflowsTasks;
  'workflows.graph': typeof steering.workflowsGraph;
  'workflows.timeline': typeof steering.workflowsTimeline;
  'workflows.task': typeof steering.workflowsTask;
  'workflows.checkpoints': typeof steering.workflowsCheckpoints;
  'workflows.context': typeof steering.workflowsContext;
  'workflows.pause': typeof steering.pauseWorkflow;
  'workflows.resume': typeof steering.resumeWorkflow;
  'workflows.complete': typeof steering.completeWorkflow;
  'workflows.abandon': typeof steering.abandonWorkflow;
  'workflows.set_parallelism': typeof steering.setParallelismByHand;
  'workflows.retry': typeof steering.retryTask;
  'workflows.skip': typeof steering.skipTask;
  'workflows.release': typeof steering.releaseClaim;
  'team.latest_audit': typeof team.latestAudit;
}

/** These answer as they would answer an agent: in the envelope of the team contract. */
interface TeamActions {
  'tasks.plan': typeof tasks.planTaskByHand;
  'tasks.cancel': typeof tasks.cancelTaskByHand;
  'workstreams.plan': typeof workstreams.planWorkstreamByHand;
  'team.weekly_summary': typeof team.summaryByHand;
  'team.audit': typeof team.auditByHand;
}

/** Blocked is an answer: nothing was done, and `data` says what to decide. An error is thrown as an `ApiError`. */
export interface TeamAnswer<T> {
  readonly status: 'ok' | 'warning' | 'blocked';
  readonly message: string;
  readonly feedback: { readonly type: string; readonly required_action: string | null };
  readonly data: T;
}

type Actions = PlainActions & TeamActions;
export type ActionName = keyof Actions;
export type Arguments<N extends ActionName> = Sent<Actions[N]>;
export type Result<N extends ActionName> = N extends keyof TeamActions ? TeamAnswer<Output<Actions[N]>> : Output<Actions[N]>;

export type JournalEvent = Result<'events.list'>['items'][number];
export type UsageRow = Result<'usage.list'>['items'][number];
export type Price = Result<'prices.list'>['items'][number];
export type Token = Result<'tokens.list'>['items'][number];
export type Developer = Result<'developers.list'>['items'][number];
export type Device = Result<'devices.list'>['items'][number];
export type Setting = Result<'settings.list'>['items'][number];
export type RoleAction = Result<'roles.list'>['actions'][number];
export type Kept = Result<'retention.list'>['items'][number];
export type Task = Result<'tasks.list'>['items'][number];
export type Claim = Result<'claims.list'>['items'][number];
export type Instance = Result<'instances.list'>['items'][number];
export type ShownInstance = Result<'instances.show'>;
export type InstanceDiff = Result<'instances.diff'>;
export type ChangedFile = InstanceDiff['files'][number];
export type PatchLine = NonNullable<InstanceDiff['file']>['lines'][number];
export type Overlap = Result<'overlap.list'>['items'][number];
export type Match = Overlap['matches'][number];
export type Thresholds = Result<'overlap.list'>['settings'];
export type TeamState = Result<'team.state'>;
export type AgentOfTeam = Result<'agents.list'>['items'][number];
export type ShownAgent = Result<'agents.show'>;
export type Lane = Result<'agents.lanes'>['lanes'][number];
export type LaneSpan = Lane['spans'][number];
export type News = Result<'news.list'>['items'][number];
export type AskToMe = Result<'waiting.list'>['items'][number];
export type Approval = Result<'approvals.list'>['items'][number];
export type Grant = Result<'capabilities.list'>['items'][number];
export type Explanation = Result<'capabilities.explain'>;
export type Foreseen = Explanation['answers'][number];
export type CatalogueTool = Result<'tools.page'>['items'][number];
export type ExternalServer = Result<'servers.list'>['items'][number];
export type Withheld = ExternalServer['withheld'][number];
export type Question = Result<'questions.list'>['items'][number];
export type Work = TeamState['activeWork'][number];
export type Note = TeamState['risksDecisions'][number];
export type Summary = Result<'team.weekly_summary'>['data'];
export type Conflict = Result<'team.audit'>['data']['conflicts'][number];

export type Workflow = Result<'workflows.list'>['items'][number];
export type ShownWorkflow = Result<'workflows.show'>;
export type WorkflowTask = Result<'workflows.tasks'>['items'][number];
export type WorkflowGraph = Result<'workflows.graph'>;
export type WorkflowTimeline = Result<'workflows.timeline'>;
export type ShownTask = Result<'workflows.task'>;

export type Cycle = Result<'cycles.list'>['items'][number];
export type ShownCycle = Result<'cycles.show'>;
export type CycleHandoff = Result<'cycles.handoff'>['handoff'];
export type Thread = Result<'messages.threads'>['items'][number];
export type ShownThread = Result<'messages.thread'>;

/** A refusal as the server worded it, or the lack of an answer. */
export class ApiError extends Error {
  readonly code: string;
  readonly suggestion: string;

  constructor(code: string, message: string, suggestion: string) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.suggestion = suggestion;
  }
}

const SIGNED_OUT = 'SIGNED_OUT';
export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.code === SIGNED_OUT;

export async function call<N extends ActionName>(name: N, input: Arguments<N>, signal?: AbortSignal): Promise<Result<N>> {
  const path = `/api/actions/${name}`;
  let proof = storedProof();
  let response = await post(path, input, proof, signal);
  // Another tab has signed in meanwhile: the cookie is that of its session, and so is the proof by now.
  if (response.status === 401 && storedProof() !== proof) {
    proof = storedProof();
    response = await post(path, input, proof, signal);
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === 401) {
    if (storedProof() === proof) forgetProof();
    throw new ApiError(SIGNED_OUT, 'You are not signed in.', 'Run covenant open for a sign-in link.');
  }
  if (!response.ok) throw refusal(response.status, body);
  return body as Result<N>;
}

/** An address that the browser opens by itself, a socket or a download: it carries no header, so a ticket stands for the page's proof. */
export async function ticketed(path: string, query: Record<string, string> = {}): Promise<string> {
  const { ticket } = await call('session.ticket', { path });
  return `${path}?${new URLSearchParams({ ...query, ticket })}`;
}

/** The same for a socket. */
export const ticketedSocket = async (path: string, query: Record<string, string>): Promise<WebSocket> =>
  new WebSocket(location.origin.replace(/^http/, 'ws') + (await ticketed(path, query)));

export type SignInAnswer = { readonly signedIn: SignedIn } | { readonly another: { readonly linkFor: Account; readonly signedInAs: Account } };

/** Takes a sign-in link by its code. `replace`: also where this browser is signed in to another account. */
export async function signIn(code: string, replace: boolean): Promise<SignInAnswer> {
  const last = lastAccount();
  const response = await post('/api/signin', { code, replace, ...(last && { account: last.id }) }, storedProof());
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return { signedIn: body as SignedIn };
  const error = refusal(response.status, body);
  if (error.code !== 'SIGNED_IN_AS_ANOTHER') throw error;
  const { link_for, signed_in_as } = (body as { data: { link_for: Account; signed_in_as: Account | null } }).data;
  return { another: { linkFor: link_for, signedInAs: signed_in_as ?? (last as Account) } };
}

async function post(path: string, input: unknown, proof: string | null, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(proof !== null && { 'x-covenant-proof': proof }) },
      body: JSON.stringify(input),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError('UNREACHABLE', 'The server does not answer.', 'Is it running? covenant up starts it.');
  }
}

/** What is refused before an action is found comes in the team envelope, the rest plain. */
interface RefusalBody {
  code?: string;
  message?: string;
  suggestion?: string;
  feedback?: { required_action?: string | null };
  data?: { code?: string };
}

function refusal(status: number, body: unknown): ApiError {
  const { code, message, suggestion, feedback, data } = (body ?? {}) as RefusalBody;
  return new ApiError(code ?? data?.code ?? `HTTP_${status}`, message ?? 'The server gave no reason.', suggestion ?? feedback?.required_action ?? '');
}
