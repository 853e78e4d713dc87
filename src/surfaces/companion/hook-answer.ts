import { fitsHeader, MALFORMED_TOKEN } from '../../wire/credentials.ts';
import { FAIL_CLOSED_HEADER, SESSION_HEADER } from '../../wire/headers.ts';
import type { HookEvent, HookQuestion } from '../../wire/hook-question.ts';
import { failsClosed, noteFailClosed } from './fail-closed.ts';
import { ask } from './server.ts';

/** What came of asking the server at a hook. */
export type HookResult =
  | { readonly kind: 'answered'; readonly body: Record<string, unknown>; readonly session_id: string | undefined }
  /** The server was not reached. `failClosed`: by its last answer, the workspace holds changes back meanwhile. */
  | { readonly kind: 'away'; readonly reason: string; readonly failClosed: boolean }
  | { readonly kind: 'refused'; readonly message: string; readonly next: string; readonly failClosed: boolean };

/** The agent waits for it. */
const TIMEOUT_MS = 5_000;

interface Asking {
  readonly origin: string;
  readonly client: string;
  readonly event: HookEvent;
  readonly question: HookQuestion;
  readonly token: string | undefined;
  /** The owner of the token, if the client itself has none. */
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
  if (token === undefined) return { message: `There is no token of ${whose} for this server.`, next: 'covibe-local setup gets one.' };
  return { message: `The server does not accept the token of ${whose}.`, next: 'covibe-local setup gets a new one.' };
}

function refusalIn(status: number, body: Record<string, unknown>): { message: string; next: string } {
  const said = typeof body.message === 'string' ? body.message : `The server answered HTTP ${status}.`;
  return { message: said, next: 'covibe-local doctor says what is wrong.' };
}

/** For the agent or person whose edit, commit or push waits for the server. */
export function heldBackText(what: string, origin: string, heard: Exclude<HookResult, { kind: 'answered' }>): string {
  const [why, next] =
    heard.kind === 'away'
      ? [`cannot be asked (${heard.reason})`, 'Start it with `covenant up`.']
      : ['did not take the question', `${heard.message} ${heard.next}`];
  return (
    `${what}: the Covenant server at ${origin} ${why}, and its workspace holds changes back meanwhile. ${next} ` +
    'An operator can let changes go on without it: `covenant settings set hooks.fail_closed off`.'
  );
}

/** A home that cannot be written must not stop anybody's work. */
export function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {
    // Noted the next time.
  }
}
