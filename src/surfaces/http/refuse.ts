import { HTTP_HOOK_PROGRAMS } from '../../clients/index.ts';
import { ENVELOPES, type Refused, type Reply, refused } from '../../kernel/reply.ts';
import { PROOF_HEADER } from '../../wire/headers.ts';
import type { BodyProblem } from './request.ts';

/** The refusal of a request that has not reached the pipe, with its HTTP status and its reply. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 429 | 503;
  readonly reply: Refused;
  /** The number of seconds that the caller has to wait before it tries again. */
  readonly retryAfter?: number;
  /** If set, the response is a JSON-RPC error with this code and without an id. */
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
  'The request has no valid token.',
  'Send the header "Authorization: Bearer cv_…". To create a token, run `covenant tokens create --developer NAME`.',
);

export const SIGNED_OUT = refusal(401, 'SIGNED_OUT', 'You are not signed in.', 'Run `covenant open` and open the link that it prints.');

export const NO_SUCH_PATH = refusal(404, 'NOT_FOUND', 'There is no page or endpoint at this address.', 'Agents connect to /mcp. People open /.');

/** `near`: the path that the caller probably meant. */
export function noSuchToolset(path: string, known: readonly string[], near: string | undefined): HttpRefusal {
  const toolsets = `/mcp/<toolset> with ${known.join(', ')} or all; join several with "+"`;
  const next = near === undefined ? `Connect to /mcp, or to ${toolsets}.` : `Connect to /mcp/${near}. Other paths: /mcp, and ${toolsets}.`;
  const message = `There is no toolset ${JSON.stringify(path.slice(0, 100))}.`;
  return refusal(404, 'NOT_FOUND', message, next, near === undefined ? undefined : { nearest: `/mcp/${near}` });
}

export const NO_RELEASE = refusal(
  404,
  'NO_RELEASE',
  'This server offers no release of the companion.',
  'The operator runs `covenant companion sign VERSION TARBALL --key FILE`, sets `manifest` under [companion] in config.toml to the manifest.json that it writes, and restarts the server.',
);

export const NO_UPDATE_KEY = refusal(
  404,
  'NO_UPDATE_KEY',
  'This server has no public key for releases of the companion.',
  'Ask the operator to set `public_key` under [companion] in config.toml to the key that `covenant companion keygen FILE` prints, and to restart the server.',
);

export const UNKNOWN_SESSION = refusal(
  404,
  'SESSION_NOT_FOUND',
  'This server has no MCP session with this id for this token and path.',
  'Send `initialize` again, without the header Mcp-Session-Id.',
);

/**
 * The refusal of a cookie without a proof. The cookie alone is not enough, because browsers
 * send it to every port of its host. Only the page of the dashboard has the matching proof.
 */
export const PROOF_REQUIRED = refusal(
  401,
  'PROOF_REQUIRED',
  `The request has a sign-in cookie but no proof from the dashboard page (header ${PROOF_HEADER}).`,
  'Run `covenant open` and open the link in this browser. In a script, send the `proof` from the response of POST /api/signin.',
);

export const TICKET_REQUIRED = refusal(
  401,
  'TICKET_REQUIRED',
  'With a sign-in cookie, this address needs a ticket, which works once and for 30 seconds.',
  'Call the action session.ticket with {"path": "…"}, then open the address with ?ticket=….',
);

export const signInStatus = (code: string): HttpRefusal['status'] => (code === 'SIGNED_IN_AS_ANOTHER' ? 409 : code === 'SIGNIN_LINK_INVALID' ? 401 : 400);

export const WRONG_POSITION = refusal(400, 'MALFORMED_REQUEST', '`after`: expected the seq of an event, or 0.', 'Connect to /api/events?after=SEQ.', {
  field: 'after',
});

/** The refusal of a body that is not a valid envelope for `POST /api/mcp`. */
export function malformed(message: string, field: string): HttpRefusal {
  return refusal(400, 'MALFORMED_REQUEST', message, 'Send {"tool": "…", "arguments": {…}} as JSON.', { field });
}

/** Returns the refusal for a bad body. `isKnown`: the sender has a valid credential in its headers. */
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
        `The body ${problem.kind === 'too-deep' ? 'is nested too deeply' : 'has too many values'}.`,
        'Send a smaller body, or ask the operator to raise `json_depth` or `json_nodes` under [limits] in config.toml and to restart the server.',
      );
    default:
      return badJson(`The body is not valid ${problem.kind === 'not-utf8' ? 'UTF-8' : 'JSON'}.`, 'Send JSON in UTF-8.');
  }
}

const PARSE_ERROR = -32700;

/** Returns the refusal for a bad body at MCP. For invalid JSON, MCP clients expect a JSON-RPC error. */
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
    isKnown ? 'Send a smaller body.' : 'Send the token in the header "Authorization: Bearer cv_…", which allows larger bodies.',
    { field: 'body', max_bytes: maxBytes },
  );

const STALLED = refusal(408, 'BODY_STALLED', 'The rest of the body did not arrive in time.', 'Send the whole request again.', { field: 'body' });

const BUSY: HttpRefusal = {
  ...refusal(
    503,
    'SERVER_BUSY',
    'The server has no memory left for this request, or the running calls of this token have used up their share.',
    'Send the request again in 2 seconds.',
    {
      retry_after: 2,
    },
  ),
  retryAfter: 2,
};

export function rateLimited(seconds: number, by: 'token' | 'address'): HttpRefusal {
  const next = `Wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, then send the request again. The operator can raise the limits under [limits] in config.toml and restart the server.`;
  const whose = by === 'token' ? 'This token' : 'This address, without a valid credential,';
  return { ...refusal(429, 'RATE_LIMITED', `${whose} has sent too many requests.`, next, { by, retry_after: seconds }), retryAfter: seconds };
}

export const TOO_MANY_SOCKETS: HttpRefusal = {
  ...refusal(429, 'TOO_MANY_SOCKETS', 'This token, or this server, has too many open sockets.', 'Close a socket, then connect again.', {
    retry_after: 5,
  }),
  retryAfter: 5,
};

/** The refusal of a hook payload that an agent program itself sends. This payload contains prompts and file contents, so it must not leave its machine. */
export const NATIVE_PAYLOAD = refusal(
  403,
  'NATIVE_PAYLOAD',
  `This hook payload contains prompts and file contents. The server accepts it only from ${HTTP_HOOK_PROGRAMS} on its own machine, and stored nothing of it.`,
  'Run `covibe-local setup --hooks command` in the repository. The hook then runs `covibe-local hook CLIENT EVENT`, which sends only names and paths.',
  { field: 'hook_event_name' },
);

/** The header that was refused: a Host that does not name this server, or an Origin whose pages may not call this server. */
export type GuardProblem = 'host' | 'origin';

export function foreignHeader(problem: GuardProblem): HttpRefusal {
  const [code, what, setting] = problem === 'host' ? ['FOREIGN_HOST', 'Host', 'allowed_hosts'] : ['FOREIGN_ORIGIN', 'Origin', 'allowed_origins'];
  return refusal(
    403,
    code,
    `The ${what} header names an address that this server does not accept.`,
    `To accept it, add it to \`${setting}\` in config.toml and restart the server.`,
  );
}

export function actionStatus(reply: Reply<unknown>): 200 | 400 | 403 | 404 | 409 | 429 | 500 {
  // A blocked reply is a normal answer, because it tells the caller what to confirm.
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
  // The rest of an oversized body stays unread, so the connection cannot be reused.
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
