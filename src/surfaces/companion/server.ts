import { isToken, NO_TOKEN } from '../../wire/credentials.ts';
import { exchange, failureCode } from '../../wire/http-client.ts';
import { CliError } from '../cli/command.ts';

/** What came of asking the server. `unreachable`: nothing, or nothing that a Covenant server says. */
export type ServerAnswer =
  | { readonly status: number; readonly headers: Pick<Headers, 'get'>; readonly body: Record<string, unknown> }
  | { readonly unreachable: string };

export interface AskOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

/** GET without a body, POST with one. Never throws for what the network or the other side does. */
export async function ask(origin: string, path: string, { token, body, headers, timeoutMs = TIMEOUT_MS }: AskOptions = {}): Promise<ServerAnswer> {
  if (token !== undefined && !isToken(token)) throw new CliError('MALFORMED_TOKEN', NO_TOKEN.message, NO_TOKEN.next);
  try {
    const answer = await exchange(`${origin}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const object = objectIn(answer.text);
    if (!object) return { unreachable: `HTTP ${answer.status} without JSON` };
    const get = (name: string) => [answer.headers[name.toLowerCase()] ?? null].flat()[0] ?? null;
    return { status: answer.status, headers: { get }, body: object };
  } catch (error) {
    return { unreachable: reasonOf(error) };
  }
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  return ['AbortError', 'TimeoutError'].includes((error as Error).name) ? 'no answer in time' : (failureCode(error) ?? 'no connection');
}
