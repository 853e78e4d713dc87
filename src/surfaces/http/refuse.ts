import { ENVELOPES } from '../../kernel/envelope.ts';
import { type Refused, type Reply, refused } from '../../kernel/reply.ts';
import type { BodyProblem } from './body.ts';
import { MAX_BODY_BYTES } from './body.ts';
import type { GuardProblem } from './guard.ts';

/** Refusals before the pipe: what is said, in the structured shape, and with which HTTP status. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413;
  readonly reply: Refused;
}

export const UNAUTHENTICATED: HttpRefusal = {
  status: 401,
  reply: refused(
    'error',
    'UNAUTHENTICATED',
    'This call carries no valid token.',
    'Send "Authorization: Bearer cv_…". `covenant tokens create --developer NAME` makes a token.',
  ),
};

export const SIGNED_OUT: HttpRefusal = {
  status: 401,
  reply: refused('error', 'SIGNED_OUT', 'You are not signed in.', 'Run `covenant open` for a sign-in link.'),
};

export const NO_SUCH_PATH: HttpRefusal = {
  status: 404,
  reply: refused('error', 'NOT_FOUND', 'There is nothing at this address.', 'Agents connect to /mcp; people open /.'),
};

export const NO_RELEASE: HttpRefusal = {
  status: 404,
  reply: refused('error', 'NO_RELEASE', 'This server gives out no release of the companion.', 'Name one as tarball in the companion manifest.'),
};

export const NO_UPDATE_KEY: HttpRefusal = {
  status: 404,
  reply: refused('error', 'NO_UPDATE_KEY', 'This server names no key that signs releases of the companion.', 'Set [companion] public_key in its config.toml.'),
};

export const UNKNOWN_SESSION: HttpRefusal = {
  status: 404,
  reply: refused('error', 'SESSION_NOT_FOUND', 'This server knows no such MCP session.', 'Send initialize again, without Mcp-Session-Id.'),
};

export const WRONG_METHOD: HttpRefusal = {
  status: 405,
  reply: refused('error', 'METHOD_NOT_ALLOWED', 'This address is not served by that method.', 'Open the link in a browser.'),
};

export const WRONG_POSITION: HttpRefusal = {
  status: 400,
  reply: refused('error', 'MALFORMED_REQUEST', 'after: expected the seq of an event, or 0.', 'Connect to /api/events?after=SEQ.', { field: 'after' }),
};

/** The envelope of `POST /api/mcp`. */
export function malformed(message: string, field: string): HttpRefusal {
  return { status: 400, reply: refused('error', 'MALFORMED_REQUEST', message, 'Send {"tool": "…", "arguments": {…}} as JSON.', { field }) };
}

export function badBody(problem: BodyProblem): HttpRefusal {
  if (problem === 'too-large') {
    return {
      status: 413,
      reply: refused('error', 'BODY_TOO_LARGE', `The body is larger than ${MAX_BODY_BYTES} bytes.`, 'Send less at once.', { field: 'body' }),
    };
  }
  const message = problem === 'not-utf8' ? 'The body is not valid UTF-8.' : 'The body is not valid JSON.';
  return { status: 400, reply: refused('error', 'MALFORMED_REQUEST', message, 'Send JSON in UTF-8.', { field: 'body' }) };
}

/** What a program tells its hooks holds prompts and contents, which are for nobody but its own machine. */
export const NATIVE_PAYLOAD: HttpRefusal = {
  status: 403,
  reply: refused(
    'error',
    'NATIVE_PAYLOAD',
    "A program's own hook payload holds prompts and contents, and is read only from Claude Code on the machine of this server. Nothing of this one was kept.",
    'Let the hook run `covibe-local hook CLIENT EVENT`, which sends names and paths alone; `covibe-local setup --hooks command` writes it so.',
    { field: 'hook_event_name' },
  ),
};

export function foreign(problem: GuardProblem): HttpRefusal {
  const [what, setting] = problem === 'host' ? ['Host', 'allowed_hosts'] : ['Origin', 'allowed_origins'];
  return {
    status: 403,
    reply: refused(
      'error',
      `FOREIGN_${problem.toUpperCase()}`,
      `The ${what} header is not one of this server's.`,
      `If it should be, add it to ${setting} in config.toml.`,
    ),
  };
}

/** Of what the pipe answered to an action. */
export function actionStatus(reply: Reply<unknown>): 200 | 400 | 403 | 404 | 409 | 500 {
  // Blocked is an answer too: it says what to confirm.
  if (reply.status !== 'error') return 200;
  if (reply.code === 'INVALID_INPUT') return 400;
  if (reply.code === 'OPERATOR_REQUIRED' || reply.code === 'TOKEN_REQUIRED' || reply.code === 'NOT_YOURS') return 403;
  if (reply.code.endsWith('_NOT_FOUND') || reply.code === 'UNKNOWN_ACTION') return 404;
  return reply.code === 'INTERNAL' ? 500 : 409;
}

export function respond({ status, reply }: HttpRefusal): Response {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' };
  if (status === 401) headers['www-authenticate'] = 'Bearer error="invalid_token"';
  // The rest of an oversized body is not read: the connection cannot be used again.
  if (status === 413) headers.connection = 'close';
  return new Response(JSON.stringify(ENVELOPES.team.render(reply)), { status, headers });
}
