import { fitsHeader, MALFORMED_TOKEN } from '../../wire/credentials.ts';
import { FAIL_CLOSED_HEADER } from '../../wire/headers.ts';
import { failureCode, httpRequest } from '../../wire/http-client.ts';
import { parseJson, recordOf } from '../../wire/json.ts';
import { CliError } from '../cli/command.ts';

/** The server's answer. `unreachable` contains the reason if there was no answer, or an answer that no Covenant server would send. */
export type ServerAnswer =
  | { readonly status: number; readonly headers: Pick<Headers, 'get'>; readonly body: Record<string, unknown> }
  | { readonly unreachable: string };

interface AskOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

/**
 * Sends a POST request if there is a body, otherwise a GET request. Does not throw if the network fails or the answer is invalid, but returns `unreachable`.
 */
export async function ask(origin: string, path: string, { token, body, headers, timeoutMs = TIMEOUT_MS }: AskOptions = {}): Promise<ServerAnswer> {
  if (token !== undefined && !fitsHeader(token)) throw new CliError('MALFORMED_TOKEN', MALFORMED_TOKEN.message, MALFORMED_TOKEN.next);
  try {
    const answer = await httpRequest(`${origin}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const object = recordOf(parseJson(answer.text));
    if (!object) return { unreachable: `HTTP ${answer.status} without JSON` };
    const get = (name: string) => [answer.headers[name.toLowerCase()] ?? null].flat()[0] ?? null;
    return { status: answer.status, headers: { get }, body: object };
  } catch (error) {
    return { unreachable: reasonOf(error) };
  }
}

export const callTool = (origin: string, token: string, tool: string, args: Record<string, unknown>): Promise<ServerAnswer> =>
  ask(origin, '/api/mcp', { token, body: { tool, arguments: args } });

function reasonOf(error: unknown): string {
  return ['AbortError', 'TimeoutError'].includes((error as Error).name) ? 'no answer in time' : (failureCode(error) ?? 'no connection');
}

export type ServerProbe =
  | { readonly state: 'ready'; readonly ms: number; readonly version: string }
  /** The server answers, but reports that calls would fail. */
  | { readonly state: 'failing' }
  | { readonly state: 'foreign' }
  | { readonly state: 'unreachable'; readonly reason: string };

/**
 * The server's answer for a token. `failClosed`: whether the token's workspace blocks
 * edits while hooks cannot reach the server. Undefined if the answer does not say so.
 */
export type TokenState =
  | { readonly state: 'accepted'; readonly failClosed: boolean | undefined }
  | { readonly state: 'refused' }
  | { readonly state: 'unreachable'; readonly reason: string };

export async function serverState(origin: string): Promise<ServerProbe> {
  const started = performance.now();
  const asked = await ask(origin, '/api/health');
  if ('unreachable' in asked) return { state: 'unreachable', reason: asked.unreachable };
  const { status, instance, version } = asked.body;
  if (typeof instance !== 'string') return { state: 'foreign' };
  return status === 'ok' ? { state: 'ready', ms: Math.round(performance.now() - started), version: String(version) } : { state: 'failing' };
}

/** Throws unless the server is ready. Setup calls this before it changes anything. */
export async function requireReady(origin: string): Promise<void> {
  const found = await serverState(origin);
  if (found.state === 'unreachable') throw unreachable(origin, found.reason);
  if (found.state === 'foreign') throw notCovenant(origin);
  if (found.state === 'failing')
    throw new CliError(
      'SERVER_FAILING',
      `The Covenant server at ${origin} is not healthy. Nothing was changed.`,
      'On its machine, run `covenant doctor`, then run this again.',
    );
}

/**
 * Checks a token with the request that the git hook sends before a commit, but
 * without files. This request changes nothing, and the journal does not record it.
 */
export async function tokenState(origin: string, token: string): Promise<TokenState> {
  const asked = await ask(origin, '/api/hooks/git/commit', { token, body: {} });
  if ('unreachable' in asked) return { state: 'unreachable', reason: asked.unreachable };
  if (asked.status === 401) return { state: 'refused' };
  if (asked.status === 429 || asked.status >= 500) return { state: 'unreachable', reason: `HTTP ${asked.status}` };
  const said = asked.headers.get(FAIL_CLOSED_HEADER);
  return { state: 'accepted', failClosed: said === null ? undefined : said === '1' };
}

export const unreachable = (origin: string, reason: string): CliError =>
  new CliError(
    'SERVER_UNREACHABLE',
    `The Covenant server at ${origin} is not reachable (${reason}). Nothing was changed.`,
    'Start it with `covenant up` or pass its address with --base-url ORIGIN, then run this again.',
  );

export const notCovenant = (origin: string): CliError =>
  new CliError('NOT_COVENANT', `${origin} is not a Covenant server. Nothing was changed.`, "Pass your server's address: --base-url ORIGIN");
