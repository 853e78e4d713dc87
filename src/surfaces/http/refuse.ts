import { ENVELOPES } from '../../kernel/envelope.ts';
import { type Refused, type Reply, refused } from '../../kernel/reply.ts';
import type { BodyProblem } from './body.ts';
import { MAX_BODY_BYTES } from './body.ts';
import type { GuardProblem } from './guard.ts';

/** By which the dashboard's page shows that it is of this origin. */
export const PROOF_HEADER = 'x-covenant-proof';

/** Refusals before the pipe: what is said, in the structured shape, and with which HTTP status. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 409 | 413;
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

export const UNKNOWN_SESSION: HttpRefusal = {
  status: 404,
  reply: refused('error', 'SESSION_NOT_FOUND', 'This server knows no such MCP session.', 'Send initialize again, without Mcp-Session-Id.'),
};

/** A cookie goes to every port of its host. Only the dashboard's own page has the proof that belongs to it. */
export const PROOF_REQUIRED: HttpRefusal = {
  status: 401,
  reply: refused(
    'error',
    'PROOF_REQUIRED',
    `The sign-in cookie came without the proof of its page (header ${PROOF_HEADER}).`,
    'Run `covenant open` and open the link in this browser. A script sends the `proof` that POST /api/signin answered.',
  ),
};

export const TICKET_REQUIRED: HttpRefusal = {
  status: 401,
  reply: refused(
    'error',
    'TICKET_REQUIRED',
    'The sign-in cookie opens this address only with a ticket, which works once and within 30 seconds.',
    'Call the action session.ticket with {"path": "…"}, then open the address with ?ticket=….',
  ),
};

/** `POST /api/signin`: of what its code or its browser is refused for. */
export const signInStatus = (code: string): HttpRefusal['status'] => (code === 'SIGNED_IN_AS_ANOTHER' ? 409 : code === 'SIGNIN_LINK_INVALID' ? 401 : 400);

export const WRONG_POSITION: HttpRefusal = {
  status: 400,
  reply: refused('error', 'MALFORMED_REQUEST', 'after: expected the seq of an event, or 0.', 'Connect to /api/events?after=SEQ.', { field: 'after' }),
};

/** The envelope of `POST /api/mcp`. */
export function malformed(message: string, field: string): HttpRefusal {
  return { status: 400, reply: refused('error', 'MALFORMED_REQUEST', message, 'Send {"tool": "…", "arguments": {…}} as JSON.', { field }) };
}

export function badBody(problem: BodyProblem, most: number = MAX_BODY_BYTES): HttpRefusal {
  if (problem === 'too-large') {
    return {
      status: 413,
      reply: refused('error', 'BODY_TOO_LARGE', `The body is larger than ${most} bytes.`, 'Send less at once.', { field: 'body' }),
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
  if (reply.code === 'OPERATOR_REQUIRED' || reply.code === 'TOKEN_REQUIRED' || reply.code === 'NOT_YOURS' || reply.code === 'SIGN_IN_AGAIN') return 403;
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
