import type { Contract, Output, Sent } from '../src/kernel/contract.ts';
import { type Account, forgetProof, lastAccount, type SignedIn, storedProof } from './session.ts';

type Contracts =
  | typeof import('../src/features/core/approvals/contract.ts')
  | typeof import('../src/features/core/capabilities/contract.ts')
  | typeof import('../src/features/core/devices/contract.ts')
  | typeof import('../src/features/core/events/contract.ts')
  | typeof import('../src/features/core/identity/contract.ts')
  | typeof import('../src/features/core/settings/contract.ts')
  | typeof import('../src/features/cycle/contract.ts')
  | typeof import('../src/features/gateway/servers/contract.ts')
  | typeof import('../src/features/gateway/tools/contract.ts')
  | typeof import('../src/features/people/lookup/contract.ts')
  | typeof import('../src/features/people/roster/contract.ts')
  | typeof import('../src/features/review/instances/contract.ts')
  | typeof import('../src/features/team/coordination/contract.ts')
  | typeof import('../src/features/team/overlap/contract.ts')
  | typeof import('../src/features/team/tasks/contract.ts')
  | typeof import('../src/features/team/team-overview/contract.ts')
  | typeof import('../src/features/team/usage/contract.ts')
  | typeof import('../src/features/workflow/messages/contract.ts')
  | typeof import('../src/features/workflow/oversight/contract.ts')
  | typeof import('../src/features/workflow/repositories/contract.ts')
  | typeof import('../src/features/workflow/steering/contract.ts');
type Exported<M> = M extends unknown ? M[keyof M] : never;
/** The dashboard calls only actions, never the tools of agents. The name of an action contains a dot, and the name of a tool does not. */
type ActionContract = Extract<Exported<Contracts>, Contract & { readonly name: `${string}.${string}` }>;
type Actions = { [C in ActionContract as C['name']]: C };

/**
 * The answer of an action in the team contract. If the status is `blocked`, nothing was changed, and `data` describes what the person must decide. Errors are
 * thrown as an `ApiError`.
 */
export interface TeamAnswer<T> {
  readonly status: 'ok' | 'warning' | 'blocked';
  readonly message: string;
  readonly feedback: { readonly type: string; readonly required_action: string | null };
  readonly data: T;
}

export type ActionName = keyof Actions;
export type ActionInput<N extends ActionName> = Sent<Actions[N]>;
/** Actions of the team contract return the same envelope that agents receive. Other actions return only their data. */
export type ActionResult<N extends ActionName> = Actions[N]['toolset'] extends 'team' ? TeamAnswer<Output<Actions[N]>> : Output<Actions[N]>;

export type EventView = ActionResult<'events.list'>['items'][number];
export type UsageLine = ActionResult<'usage.list'>['items'][number];
export type Price = ActionResult<'prices.list'>['items'][number];
export type Token = ActionResult<'tokens.list'>['items'][number];
export type Developer = ActionResult<'developers.list'>['items'][number];
export type Device = ActionResult<'devices.list'>['items'][number];
export type Setting = ActionResult<'settings.list'>['items'][number];
export type RoleAction = ActionResult<'roles.list'>['actions'][number];
export type KeptData = ActionResult<'retention.list'>['items'][number];
export type Task = ActionResult<'tasks.list'>['items'][number];
export type Claim = ActionResult<'claims.list'>['items'][number];
export type Instance = ActionResult<'instances.list'>['items'][number];
export type ShownInstance = ActionResult<'instances.show'>;
export type InstanceDiff = ActionResult<'instances.diff'>;
export type ChangedFile = InstanceDiff['files'][number];
export type DiffLine = NonNullable<InstanceDiff['file']>['lines'][number];
export type Overlap = ActionResult<'overlap.list'>['items'][number];
export type Match = Overlap['matches'][number];
export type Thresholds = ActionResult<'overlap.list'>['settings'];
export type TeamOverview = ActionResult<'team.state'>;
export type AgentOfTeam = ActionResult<'agents.list'>['items'][number];
export type ShownAgent = ActionResult<'agents.show'>;
export type Lane = ActionResult<'agents.lanes'>['lanes'][number];
export type LaneSpan = Lane['spans'][number];
export type News = ActionResult<'news.list'>['items'][number];
export type WaitingItem = ActionResult<'waiting.list'>['items'][number];
export type Approval = ActionResult<'approvals.list'>['items'][number];
export type Grant = ActionResult<'capabilities.list'>['items'][number];
export type Explanation = ActionResult<'capabilities.explain'>;
export type ForeseenAccess = Explanation['answers'][number];
export type CatalogueTool = ActionResult<'tools.page'>['items'][number];
export type ExternalServer = ActionResult<'servers.list'>['items'][number];
export type Withheld = ExternalServer['withheld'][number];
export type Question = ActionResult<'questions.list'>['items'][number];
export type Work = TeamOverview['activeWork'][number];
export type Note = TeamOverview['risksDecisions'][number];
export type Summary = ActionResult<'team.weekly_summary'>['data'];
export type Conflict = ActionResult<'team.audit'>['data']['conflicts'][number];

export type Workflow = ActionResult<'workflows.list'>['items'][number];
export type ShownWorkflow = ActionResult<'workflows.show'>;
export type WorkflowTask = ActionResult<'workflows.tasks'>['items'][number];
export type WorkflowGraph = ActionResult<'workflows.graph'>;
export type WorkflowTimeline = ActionResult<'workflows.timeline'>;
export type ShownWorkflowTask = ActionResult<'workflows.task'>;

export type Cycle = ActionResult<'cycles.list'>['items'][number];
export type ShownCycle = ActionResult<'cycles.show'>;
export type CycleHandoff = ActionResult<'cycles.handoff'>['handoff'];
export type Thread = ActionResult<'messages.threads'>['items'][number];
export type ShownThread = ActionResult<'messages.thread'>;

/** Thrown if the server refuses a call or does not answer. */
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

export const asApiError = (error: unknown): ApiError => (error instanceof ApiError ? error : new ApiError('UNEXPECTED', String(error), 'Reload the page.'));

const SIGNED_OUT = 'SIGNED_OUT';
export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.code === SIGNED_OUT;

export async function call<N extends ActionName>(name: N, input: ActionInput<N>, signal?: AbortSignal): Promise<ActionResult<N>> {
  const path = `/api/actions/${name}`;
  let proof = storedProof();
  let response = await post(path, input, proof, signal);
  // In the meantime another tab has signed in, so the cookie and the stored proof now belong to that session.
  if (response.status === 401 && storedProof() !== proof) {
    proof = storedProof();
    response = await post(path, input, proof, signal);
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === 401) {
    if (storedProof() === proof) forgetProof();
    throw new ApiError(SIGNED_OUT, 'You are not signed in.', 'Run covenant open and follow the sign-in link.');
  }
  if (!response.ok) throw refusal(response.status, body);
  return body as ActionResult<N>;
}

/**
 * Returns an address that contains a one-time ticket. A browser cannot send headers when it opens a socket or starts a download, so the ticket replaces the
 * proof header.
 */
export async function addressWithTicket(path: string, query: Record<string, string> = {}): Promise<string> {
  const { ticket } = await call('session.ticket', { path });
  return `${path}?${new URLSearchParams({ ...query, ticket })}`;
}

export const openSocket = async (path: string, query: Record<string, string>): Promise<WebSocket> =>
  new WebSocket(location.origin.replace(/^http/, 'ws') + (await addressWithTicket(path, query)));

export type SignInAnswer = { readonly signedIn: SignedIn } | { readonly another: { readonly linkFor: Account; readonly signedInAs: Account } };

/** Signs in with the code of a sign-in link. With `replace`, it does so even if this browser is signed in to another account. */
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
    throw new ApiError('UNREACHABLE', 'The server does not answer.', 'Start it with covenant up, then retry.');
  }
}

/** If a call is refused before the server has found the action, the body has the form of the team envelope. Other refusals have plain fields. */
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
