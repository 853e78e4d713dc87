import type * as approvals from '../src/features/approvals/contract.ts';
import type * as events from '../src/features/events/contract.ts';
import type * as identity from '../src/features/identity/contract.ts';
import type * as instances from '../src/features/instances/contract.ts';
import type * as lookup from '../src/features/lookup/contract.ts';
import type * as messages from '../src/features/messages/contract.ts';
import type * as overlap from '../src/features/overlap/contract.ts';
import type * as repositories from '../src/features/repositories/contract.ts';
import type * as tasks from '../src/features/tasks/contract.ts';
import type * as team from '../src/features/team/contract.ts';
import type { Output, Sent } from '../src/kernel/contract.ts';

/** The actions that the dashboard calls, each with the server's own contract. These answer with their data alone. */
interface PlainActions {
  'identity.me': typeof identity.whoAmI;
  'tokens.list': typeof identity.listTokens;
  'tokens.create': typeof identity.createToken;
  'tokens.revoke': typeof identity.revokeToken;
  'developers.list': typeof identity.listDevelopers;
  'developers.set_visibility': typeof identity.setVisibility;
  'events.list': typeof events.listEvents;
  'events.rate': typeof events.eventRate;
  'instances.list': typeof instances.instancesList;
  'instances.show': typeof instances.instancesShow;
  'instances.stop': typeof instances.instancesStop;
  'instances.abandon': typeof instances.instancesAbandon;
  'lookup.find': typeof lookup.find;
  'repositories.list': typeof repositories.repositoriesAtWork;
  'tasks.list': typeof tasks.listTasks;
  'overlap.list': typeof overlap.listOverlaps;
  'approvals.list': typeof approvals.listApprovals;
  'approvals.approve': typeof approvals.approveCall;
  'approvals.refuse': typeof approvals.refuseCall;
  'questions.list': typeof messages.listQuestions;
  'questions.answer': typeof messages.answerQuestion;
  'team.state': typeof team.readState;
}

/** These answer as they would answer an agent: in the envelope of the team contract. */
interface TeamActions {
  'tasks.plan': typeof tasks.planTaskByHand;
  'tasks.cancel': typeof tasks.cancelTaskByHand;
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
export type Token = Result<'tokens.list'>['items'][number];
export type Developer = Result<'developers.list'>['items'][number];
export type Task = Result<'tasks.list'>['items'][number];
export type Instance = Result<'instances.list'>['items'][number];
export type ShownInstance = Result<'instances.show'>;
export type Overlap = Result<'overlap.list'>['items'][number];
export type Match = Overlap['matches'][number];
export type Thresholds = Result<'overlap.list'>['settings'];
export type TeamState = Result<'team.state'>;
export type Approval = Result<'approvals.list'>['items'][number];
export type Question = Result<'questions.list'>['items'][number];
export type Work = TeamState['activeWork'][number];
export type Session = TeamState['recentSessions'][number];
export type Note = TeamState['risksDecisions'][number];
export type Summary = Result<'team.weekly_summary'>['data'];
export type Conflict = Result<'team.audit'>['data']['conflicts'][number];

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
  const response = await send(name, input, signal);
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === 401) throw new ApiError(SIGNED_OUT, 'You are not signed in.', 'Run covenant open for a sign-in link.');
  if (!response.ok) throw refusal(response.status, body);
  return body as Result<N>;
}

async function send(name: string, input: unknown, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch(`/api/actions/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
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
