import type * as events from '../src/features/events/contract.ts';
import type * as identity from '../src/features/identity/contract.ts';
import type { Output, Sent } from '../src/kernel/contract.ts';

/** The actions that the dashboard calls, each with the server's own contract. */
interface Actions {
  'identity.me': typeof identity.whoAmI;
  'tokens.list': typeof identity.listTokens;
  'tokens.create': typeof identity.createToken;
  'tokens.revoke': typeof identity.revokeToken;
  'developers.list': typeof identity.listDevelopers;
  'developers.set_visibility': typeof identity.setVisibility;
  'events.list': typeof events.listEvents;
}

export type ActionName = keyof Actions;
export type Arguments<N extends ActionName> = Sent<Actions[N]>;
export type Result<N extends ActionName> = Output<Actions[N]>;

export type JournalEvent = Result<'events.list'>['items'][number];
export type Token = Result<'tokens.list'>['items'][number];
export type Developer = Result<'developers.list'>['items'][number];

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
