import { HTTP_HOOK_PROGRAMS } from '../../clients/index.ts';
import { ENVELOPES, type Refused, type Reply, refused } from '../../kernel/reply.ts';
import { PROOF_HEADER } from '../../wire/headers.ts';
import type { BodyProblem } from './request.ts';

/** Refusals before the pipe: what is said, in the structured shape, and with which HTTP status. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 429 | 503;
  readonly reply: Refused;
  /** Seconds to wait before the next attempt. */
  readonly retryAfter?: number;
  /** The error code of JSON-RPC. The response is then a JSON-RPC error without an id. */
  readonly rpcCode?: number;
}

export type OrRefusal<T> = T | { readonly refusal: HttpRefusal };

export const refusal = (status: HttpRefusal['status'], code: string, message: string, next: string, details?: Record<string, unknown>): HttpRefusal => ({
  status,
  reply: refused('error', code, message, next, details),
});

export const UNAUTHENTICATED = refusal(
  401,
  'UNAUTHENTICATED',
  'This call carries no valid token.',
  'Send "Authorization: Bearer cv_…". `covenant tokens create --developer NAME` makes a token.',
);

export const SIGNED_OUT = refusal(401, 'SIGNED_OUT', 'You are not signed in.', 'Run `covenant open` for a sign-in link.');

export const NO_SUCH_PATH = refusal(404, 'NOT_FOUND', 'There is nothing at this address.', 'Agents connect to /mcp; people open /.');

/** `near`: the path that the caller probably meant. */
export function noSuchToolset(path: string, known: readonly string[], near: string | undefined): HttpRefusal {
  const toolsets = `/mcp/<toolset> with ${known.join(', ')} or all; join several with "+"`;
  const next = near === undefined ? `Connect to /mcp, or to ${toolsets}.` : `Connect to /mcp/${near}. Other paths: /mcp, and ${toolsets}.`;
  const message = `There is no toolset ${JSON.stringify(path.slice(0, 100))}.`;
  return refusal(404, 'NOT_FOUND', message, next, near === undefined ? undefined : { nearest: `/mcp/${near}` });
}

export const NO_RELEASE = refusal(404, 'NO_RELEASE', 'This server gives out no release of the companion.', 'Name one as tarball in the companion manifest.');

export const NO_UPDATE_KEY = refusal(
  404,
  'NO_UPDATE_KEY',
  'This server names no key that signs releases of the companion.',
  'Set [companion] public_key in its config.toml.',
);

export const UNKNOWN_SESSION = refusal(404, 'SESSION_NOT_FOUND', 'This server knows no such MCP session.', 'Send initialize again, without Mcp-Session-Id.');

/** A cookie goes to every port of its host. Only the dashboard's own page has the proof that belongs to it. */
export const PROOF_REQUIRED = refusal(
  401,
  'PROOF_REQUIRED',
  `The sign-in cookie came without the proof of its page (header ${PROOF_HEADER}).`,
  'Run `covenant open` and open the link in this browser. A script sends the `proof` that POST /api/signin answered.',
);

export const TICKET_REQUIRED = refusal(
  401,
  'TICKET_REQUIRED',
  'The sign-in cookie opens this address only with a ticket, which works once and within 30 seconds.',
  'Call the action session.ticket with {"path": "…"}, then open the address with ?ticket=….',
);

/** The HTTP status for a refusal of `POST /api/signin`. */
export const signInStatus = (code: string): HttpRefusal['status'] => (code === 'SIGNED_IN_AS_ANOTHER' ? 409 : code === 'SIGNIN_LINK_INVALID' ? 401 : 400);

export const WRONG_POSITION = refusal(400, 'MALFORMED_REQUEST', 'after: expected the seq of an event, or 0.', 'Connect to /api/events?after=SEQ.', {
  field: 'after',
});

/** The envelope of `POST /api/mcp`. */
export function malformed(message: string, field: string): HttpRefusal {
  return refusal(400, 'MALFORMED_REQUEST', message, 'Send {"tool": "…", "arguments": {…}} as JSON.', { field });
}

/** `isKnown`: who sends it has a valid credential in its headers. */
export function badBody(problem: BodyProblem, isKnown = true): HttpRefusal {
  switch (problem.kind) {
    case 'too-large':
      return tooLarge(problem.maxBytes, isKnown);
    case 'busy':
      return BUSY;
    case 'stalled':
      return STALLED;
    case 'too-deep':
    case 'too-many-nodes':
      return badJson(
        `The body ${problem.kind === 'too-deep' ? 'is nested too deep' : 'has too many values'}.`,
        'Send less at once, or ask the operator to raise json_depth or json_nodes in [limits].',
      );
    default:
      return badJson(`The body is not valid ${problem.kind === 'not-utf8' ? 'UTF-8' : 'JSON'}.`, 'Send JSON in UTF-8.');
  }
}

const PARSE_ERROR = -32700;

/** For MCP, where a client looks for a JSON-RPC error. An empty body is no JSON either. */
export function badMcpBody(problem: BodyProblem): HttpRefusal {
  const isParseError = problem.kind === 'not-json' || problem.kind === 'not-utf8';
  return isParseError ? { ...badBody(problem), rpcCode: PARSE_ERROR } : badBody(problem);
}

const badJson = (message: string, next: string): HttpRefusal => refusal(400, 'MALFORMED_REQUEST', message, next, { field: 'body' });

const tooLarge = (maxBytes: number, isKnown: boolean): HttpRefusal =>
  refusal(
    413,
    'BODY_TOO_LARGE',
    `The body is larger than ${maxBytes} bytes.`,
    isKnown ? 'Send less at once.' : 'Send the token as "Authorization: Bearer cv_…": a larger body is read only from a known caller.',
    { field: 'body', max_bytes: maxBytes },
  );

const STALLED = refusal(408, 'BODY_STALLED', 'The rest of the body did not come.', 'Send the whole request again.', { field: 'body' });

const BUSY: HttpRefusal = {
  ...refusal(
    503,
    'SERVER_BUSY',
    'There is no memory left for this request, or the calls of this token that are under way hold as much as they may.',
    'Send the request again in 2 seconds.',
    {
      retry_after: 2,
    },
  ),
  retryAfter: 2,
};

export function rateLimited(seconds: number, by: 'token' | 'address'): HttpRefusal {
  const next = `Wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, then send the request again. [limits] in config.toml sets how many are allowed.`;
  const whose = by === 'token' ? 'This token' : 'This address, without a valid credential,';
  return { ...refusal(429, 'RATE_LIMITED', `${whose} has sent too many requests.`, next, { by, retry_after: seconds }), retryAfter: seconds };
}

export const TOO_MANY_SOCKETS: HttpRefusal = {
  ...refusal(429, 'TOO_MANY_SOCKETS', 'Too many sockets are open for this token or on this server.', 'Close one of them, then connect again.', {
    retry_after: 5,
  }),
  retryAfter: 5,
};

/** The payload of a program's own hook holds prompts and file contents, which must not leave its machine. */
export const NATIVE_PAYLOAD = refusal(
  403,
  'NATIVE_PAYLOAD',
  `A program's own hook payload holds prompts and contents, and is read only from ${HTTP_HOOK_PROGRAMS} on the machine of this server. Nothing of this one was kept.`,
  'Let the hook run `covibe-local hook CLIENT EVENT`, which sends names and paths alone; `covibe-local setup --hooks command` writes it so.',
  { field: 'hook_event_name' },
);

/** Which header of a request names neither this server nor a page that may call it. */
export type GuardProblem = 'host' | 'origin';

export function foreignHeader(problem: GuardProblem): HttpRefusal {
  const [code, what, setting] = problem === 'host' ? ['FOREIGN_HOST', 'Host', 'allowed_hosts'] : ['FOREIGN_ORIGIN', 'Origin', 'allowed_origins'];
  return refusal(403, code, `The ${what} header is not one of this server's.`, `If it should be, add it to ${setting} in config.toml.`);
}

/** The HTTP status for the pipe's answer to an action. */
export function actionStatus(reply: Reply<unknown>): 200 | 400 | 403 | 404 | 409 | 429 | 500 {
  // Blocked is an answer too: it says what to confirm.
  if (reply.status !== 'error') return 200;
  if (reply.code === 'INVALID_INPUT') return 400;
  if (reply.code === 'OPERATOR_REQUIRED' || reply.code === 'TOKEN_REQUIRED' || reply.code === 'NOT_YOURS' || reply.code === 'SIGN_IN_AGAIN') return 403;
  if (reply.code.endsWith('_NOT_FOUND') || reply.code === 'UNKNOWN_ACTION') return 404;
  if (reply.code === 'JOURNAL_QUOTA_EXCEEDED') return 429;
  return reply.code === 'INTERNAL' ? 500 : 409;
}

export function respond({ status, reply, retryAfter, rpcCode }: HttpRefusal): Response {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' };
  if (status === 401) headers['www-authenticate'] = 'Bearer error="invalid_token"';
  // The rest of an oversized body is not read: the connection cannot be used again.
  if (status === 408 || status === 413 || status === 503) headers.connection = 'close';
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  const body = rpcCode === undefined ? ENVELOPES.team.render(reply) : rpcError(rpcCode, reply);
  return new Response(JSON.stringify(body), { status, headers });
}

const rpcError = (code: number, { code: refusalCode, message, next, data }: Refused) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code, message: `${message} ${next}`, data: { ...data, code: refusalCode, next } },
});
