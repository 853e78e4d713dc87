import { join } from 'node:path';
import type { HookEvent, HookQuestion } from '../../features/hooks/question.ts';
import { covibeHome, readJson, replaceFile } from './home.ts';
import { ask } from './server.ts';

/** What came of asking the server at a hook. */
export type Heard =
  | { readonly kind: 'answered'; readonly body: Record<string, unknown>; readonly session_id: string | undefined }
  /** Nobody has judged. `failClosed`: the workspace wanted, when last heard of, that nothing is written meanwhile. */
  | { readonly kind: 'away'; readonly reason: string; readonly failClosed: boolean }
  | { readonly kind: 'refused'; readonly message: string; readonly next: string; readonly failClosed: boolean };

/** The agent waits for it. */
const TIMEOUT_MS = 5_000;

export interface Asking {
  readonly origin: string;
  readonly client: string;
  readonly event: HookEvent;
  readonly question: HookQuestion;
  readonly token: string | undefined;
}

export async function hear(env: NodeJS.ProcessEnv, { origin, client, event, question, token }: Asking): Promise<Heard> {
  const failClosed = failsClosed(env, origin);
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) return { kind: 'refused', ...NO_TOKEN, failClosed };
  const asked = await ask(origin, `/api/hooks/${client}/${event}`, { token, body: question, timeoutMs: TIMEOUT_MS });
  if ('unreachable' in asked) return { kind: 'away', reason: asked.unreachable, failClosed };
  const { status, headers, body } = asked;
  if (status >= 500) return { kind: 'away', reason: `HTTP ${status}`, failClosed };
  const said = headers.get('x-covenant-fail-closed');
  if (status === 200 && said !== null) {
    noteFailClosed(env, origin, said === '1');
    return { kind: 'answered', body, session_id: headers.get('x-covenant-session') ?? undefined };
  }
  return { kind: 'refused', ...(status === 401 ? notAccepted(client, token) : refusalIn(status, body)), failClosed };
}

const NO_TOKEN = { message: 'The token has characters that no token has.', next: 'Set COVIBE_MCP_TOKEN to a token as it was given out (cv_…), or unset it.' };

function notAccepted(client: string, token: string | undefined): { message: string; next: string } {
  const whose = client === 'git' ? 'this machine' : client;
  if (token === undefined) return { message: `There is no token of ${whose} for this server.`, next: 'covibe-local setup gets one.' };
  return { message: `The server does not accept the token of ${whose}.`, next: 'covibe-local setup gets a new one.' };
}

function refusalIn(status: number, body: Record<string, unknown>): { message: string; next: string } {
  const said = typeof body.message === 'string' ? body.message : `The server answered HTTP ${status}.`;
  return { message: said, next: 'covibe-local doctor says what is wrong.' };
}

const failClosedPath = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'fail-closed.json');

const failClosedOrigins = (env: NodeJS.ProcessEnv): readonly unknown[] => {
  const { origins } = (readJson(failClosedPath(env)) ?? {}) as { origins?: unknown };
  return Array.isArray(origins) ? origins : [];
};

const failsClosed = (env: NodeJS.ProcessEnv, origin: string): boolean => failClosedOrigins(env).includes(origin);

function noteFailClosed(env: NodeJS.ProcessEnv, origin: string, now: boolean): void {
  const known = failClosedOrigins(env);
  if (known.includes(origin) === now) return;
  const origins = now ? [...known, origin] : known.filter((each) => each !== origin);
  orNot(() => replaceFile(failClosedPath(env), `${JSON.stringify({ origins }, null, 2)}\n`));
}

/** For the agent or person whose edit, commit or push waits for the server. */
export function heldBack(what: string, origin: string, heard: Exclude<Heard, { kind: 'answered' }>): string {
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
export function orNot(work: () => void): void {
  try {
    work();
  } catch {
    // Noted the next time.
  }
}
