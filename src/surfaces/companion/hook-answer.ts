import { fitsHeader, MALFORMED_TOKEN } from '../../wire/credentials.ts';
import { FAIL_CLOSED_HEADER, SESSION_HEADER } from '../../wire/headers.ts';
import type { HookEvent, HookQuestion } from '../../wire/hook-question.ts';
import { failsClosed, noteFailClosed } from './fail-closed.ts';
import { ask } from './server.ts';

/** The result of a request from a hook to the server. */
export type HookResult =
  | { readonly kind: 'answered'; readonly body: Record<string, unknown>; readonly session_id: string | undefined }
  /** The server did not answer. `failClosed`: the server's last answer said that the workspace blocks edits while the server is unreachable. */
  | { readonly kind: 'away'; readonly reason: string; readonly failClosed: boolean }
  | { readonly kind: 'refused'; readonly message: string; readonly next: string; readonly failClosed: boolean };

/** The time limit for the answer. Short, because the agent waits for it. */
const TIMEOUT_MS = 5_000;

interface Asking {
  readonly origin: string;
  readonly client: string;
  readonly event: HookEvent;
  readonly question: HookQuestion;
  readonly token: string | undefined;
  /** The owner of the token, for error messages. Default: the client. */
  readonly of?: string;
}

export async function askHook(env: NodeJS.ProcessEnv, { origin, client, event, question, token, of = client }: Asking): Promise<HookResult> {
  const failClosed = failsClosed(env, origin, token);
  if (token !== undefined && !fitsHeader(token)) return { kind: 'refused', ...MALFORMED_TOKEN, failClosed };
  const asked = await ask(origin, `/api/hooks/${client}/${event}`, { token, body: question, timeoutMs: TIMEOUT_MS });
  if ('unreachable' in asked) return { kind: 'away', reason: asked.unreachable, failClosed };
  const { status, headers, body } = asked;
  if (status >= 500) return { kind: 'away', reason: `HTTP ${status}`, failClosed };
  const said = headers.get(FAIL_CLOSED_HEADER);
  if (status === 200 && said !== null) {
    if (token !== undefined) ignoreErrors(() => noteFailClosed(env, origin, token, said === '1'));
    return { kind: 'answered', body, session_id: headers.get(SESSION_HEADER) ?? undefined };
  }
  return { kind: 'refused', ...(status === 401 ? notAccepted(of, token) : refusalIn(status, body)), failClosed };
}

function notAccepted(whose: string, token: string | undefined): { message: string; next: string } {
  if (token === undefined) return { message: `No token of ${whose} is stored for this server.`, next: 'Run `covibe-local setup` to get one.' };
  return { message: `The server does not accept the token of ${whose}.`, next: 'Run `covibe-local setup` to get a new one.' };
}

function refusalIn(status: number, body: Record<string, unknown>): { message: string; next: string } {
  const said = typeof body.message === 'string' ? body.message : `The server answered HTTP ${status}.`;
  return { message: said, next: 'Run `covibe-local doctor` to see what is wrong.' };
}

/** Returns the message to an agent or person whose edit, commit or push is blocked until the server answers. */
export function heldBackText(what: string, origin: string, heard: Exclude<HookResult, { kind: 'answered' }>): string {
  const [why, next] =
    heard.kind === 'away'
      ? [`is not reachable (${heard.reason})`, 'Start it with `covenant up`, then try again.']
      : ['refused the request', `${heard.message} ${heard.next}`];
  return (
    `${what}: the Covenant server at ${origin} ${why}, and its workspace blocks changes until it answers. ${next} ` +
    'To allow changes without the server, an operator can run `covenant settings set hooks.fail_closed off`.'
  );
}

/** Stores something and ignores errors, because a home that is read-only must not stop the agent. */
export function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {
    // The next hook tries to store it again.
  }
}
