import type { ErrorCodes } from './index.ts';

export const accessCodes = {
  BODY_STALLED: {
    meaning: 'The rest of the request did not arrive.',
    cause: 'The connection stalled for 10 seconds in the middle of the body.',
    next: 'Send the whole request again.',
  },
  BODY_TOO_LARGE: {
    meaning: 'The request body is too large.',
    cause: 'The body is over the limit that the message names. Callers without a token in a header have a smaller limit.',
    next: 'Send less in one call, and send the token as `Authorization: Bearer cv_…`.',
  },
  CALLER_GONE: {
    meaning: 'The caller disconnected before its call began.',
    cause: 'The client closed the connection while the call waited.',
    next: 'Call again.',
  },
  DEVELOPER_NOT_FOUND: {
    meaning: 'The workspace has no developer with this name.',
    cause: 'The name is misspelt, or nobody has made a token for that person.',
    next: 'Run `covenant developers list`, or `covenant tokens create --developer NAME` to add one.',
  },
  DEVELOPER_REQUIRED: {
    meaning: 'The call is for developers and their agents.',
    cause: "The operator's token was used.",
    next: 'Make a token with `covenant tokens create --developer NAME` and call with it.',
  },
  DEVICE_CONSUMED: {
    meaning: 'The tokens of this code were handed out but did not arrive.',
    cause: 'The connection broke while the tokens were sent.',
    next: 'Run `covenant devices revoke ID`, then `covibe-local setup` again.',
  },
  DEVICE_DENIED: {
    meaning: 'A person rejected the device.',
    cause: 'Somebody chose Reject for the code.',
    next: 'If that was a mistake, run `covibe-local setup` again and approve the new code.',
  },
  DEVICE_EXPIRED: {
    meaning: 'Nobody approved the code in time.',
    cause: 'A code is valid for ten minutes.',
    next: 'Run `covibe-local setup` again and approve the new code.',
  },
  DEVICE_NOT_FOUND: {
    meaning: 'No device waits with this code.',
    cause: 'The code is mistyped, expired or already decided.',
    next: 'Compare the code with the device. `covenant devices list` shows the devices.',
  },
  FOREIGN_HOST: {
    meaning: 'The request names a host that the server does not accept.',
    cause: 'The Host header is not in `allowed_hosts`. This stops attacks by other web pages.',
    next: 'Call the server by its own name, or add the name to `allowed_hosts` in config.toml.',
  },
  FOREIGN_ORIGIN: {
    meaning: 'The request comes from a web page of another origin.',
    cause: 'The Origin header is not in `allowed_origins`.',
    next: "Open the dashboard at the server's own address, or add the origin to `allowed_origins` in config.toml.",
  },
  INVALID_INPUT: {
    meaning: 'An input field is not valid.',
    cause: 'A field is missing, unknown, misspelt, too long or has the wrong type.',
    next: 'Correct the fields that `issues` names and call again.',
  },
  INVALID_STATE: {
    meaning: 'The state of the object does not allow this.',
    cause: 'The object has ended or is in another step.',
    next: "Read the object's state, then follow the message.",
  },
  JOURNAL_QUOTA_EXCEEDED: {
    meaning: 'The token has used its journal quota for today.',
    cause: 'Each token may add only so many events to the journal in a day.',
    next: 'Finish or hand off the work: heartbeats, releases, completions and hand-offs still work. Continue after 00:00 UTC, or the operator raises `journal_events_per_day`.',
  },
  MACHINE_PERMISSION_REQUIRED: {
    meaning: "The developer may not run programs on the server's machine.",
    cause: 'Starting or messaging agents runs programs, which needs a permission of its own.',
    next: 'The operator of the server runs `covenant developers allow NAME --run-agents`.',
  },
  MALFORMED_REQUEST: {
    meaning: 'The request is not in the expected form.',
    cause: 'The body is not valid JSON, or a parameter is missing.',
    next: 'Send the form that the message shows, such as {"tool": "…", "arguments": {…}}.',
  },
  MALFORMED_TOKEN: {
    meaning: 'The token has characters that no token has.',
    cause: 'The token was cut or copied with quotes or spaces.',
    next: 'Set the token exactly as `covenant tokens create` printed it (cv_…).',
  },
  NATIVE_PAYLOAD: {
    meaning: "The server does not accept this program's own hook payload.",
    cause: 'The payload contains prompts and file contents. Nothing of it was stored.',
    next: 'Run `covibe-local setup --hooks command`, which sends only names and paths.',
  },
  NOT_FOUND: {
    meaning: 'There is nothing at this address, or with this id.',
    cause: 'The path or id is wrong.',
    next: 'Agents connect to `/mcp`, and people open `/`. For an id, give more of it.',
  },
  NOT_YOURS: {
    meaning: 'You can do this only for yourself.',
    cause: 'The call names another developer.',
    next: 'Leave out `developer`, or ask the operator.',
  },
  OPERATOR_REQUIRED: {
    meaning: 'Only the operator may do this.',
    cause: 'The call used the token of a developer or an agent.',
    next: "Run the command on the server's machine, or sign in as its first developer.",
  },
  PROOF_REQUIRED: {
    meaning: 'The sign-in cookie came without the proof of its page.',
    cause: 'Another page or program sent the cookie. A cookie alone is not enough.',
    next: 'Run `covenant open` and open the link in this browser. Scripts send the `proof` that `POST /api/signin` returned.',
  },
  RATE_LIMITED: {
    meaning: 'Too many requests were sent.',
    cause: 'The token or the address is over its rate limit.',
    next: 'Wait for the seconds in `Retry-After`, then call again.',
  },
  READ_ONLY: {
    meaning: 'The terminal is open for reading only.',
    cause: 'It was opened without `?write=1`, or you may not type into it.',
    next: 'Open it with `covenant instances attach ID --write`.',
  },
  SERVER_BUSY: {
    meaning: 'The server has no memory left for this request.',
    cause: 'Many large requests are being handled, or this token has several.',
    next: 'Send the request again in 2 seconds.',
  },
  SESSION_REQUIRED: {
    meaning: 'The action is for dashboard sessions.',
    cause: 'The call used a token instead of a sign-in cookie.',
    next: 'A token needs no ticket: send it as `Authorization: Bearer`.',
  },
  SIGNED_IN_AS_ANOTHER: {
    meaning: 'The browser is signed in as another account.',
    cause: 'The sign-in link belongs to another developer or workspace.',
    next: 'Confirm on the page to switch, or leave the link if you did not expect it.',
  },
  SIGNED_OUT: {
    meaning: 'You are not signed in.',
    cause: 'The sign-in expired or ended.',
    next: "Run `covenant open` on the server's machine and open the link.",
  },
  SIGNIN_LINK_INVALID: {
    meaning: 'The sign-in link was used or has expired.',
    cause: 'A link works once, within ten minutes.',
    next: 'Run `covenant open` for a new link.',
  },
  SIGN_IN_AGAIN: {
    meaning: 'The action needs a recent sign-in.',
    cause: 'Actions that give out rights or secrets need a sign-in of the last minutes.',
    next: 'Run `covenant open` with the options in the message, open the link in this browser, then try again.',
  },
  TICKET_REQUIRED: {
    meaning: 'The address needs a ticket.',
    cause: 'A cookie opens a socket only with a ticket, which works once and for 30 seconds.',
    next: 'Call the action `session.ticket` with {"path": "…"}, then open the address with `?ticket=…`.',
  },
  TOKEN_ENDED: {
    meaning: 'The token was revoked or has expired.',
    cause: 'A token that has ended cannot be rotated.',
    next: 'Run `covenant tokens create --developer NAME`.',
  },
  TOKEN_NOT_ROTATABLE: {
    meaning: 'This kind of token cannot be rotated.',
    cause: 'Only tokens of agents and developers are rotated.',
    next: 'Sign in again for a dashboard session. The token of an instance ends with the instance.',
  },
  TOKEN_REQUIRED: {
    meaning: 'The call is for programs that act for a developer.',
    cause: "A dashboard cookie or the operator's token was used.",
    next: 'Send the token of a developer or agent as `Authorization: Bearer`.',
  },
  TOKEN_REVOKED: {
    meaning: 'The token ended while the call waited for approval.',
    cause: 'It was revoked or expired in the meantime.',
    next: 'Ask the operator for a new token.',
  },
  TOO_MANY_CODES: {
    meaning: 'Too many wrong device codes were tried.',
    cause: 'Guessing codes is slowed down.',
    next: 'Wait for the seconds in the message, then enter the code that the device shows.',
  },
  TOO_MANY_DEVICES: {
    meaning: 'Too many devices wait for approval.',
    cause: 'Many setups were started and not decided.',
    next: 'Decide on the waiting devices (`covenant devices list`), then run setup again.',
  },
  TOO_MANY_SOCKETS: {
    meaning: 'Too many sockets are open.',
    cause: 'The token or the server has reached its limit of open connections.',
    next: 'Close one of them, then connect again.',
  },
  UNAUTHENTICATED: {
    meaning: 'The call has no valid token.',
    cause: 'The token is missing, wrong, revoked or expired.',
    next: 'Send `Authorization: Bearer cv_…`. The operator makes a token with `covenant tokens create --developer NAME`.',
  },
  UNKNOWN_ACTION: {
    meaning: 'The server has no such action.',
    cause: 'The command line program and the server have different versions.',
    next: 'Use the `covenant` of the same version as the server.',
  },
  WORKSPACE_NOT_FOUND: {
    meaning: 'There is no workspace with this name or id.',
    cause: 'The name is misspelt, or the workspace does not exist yet.',
    next: '`covenant tokens create --workspace NAME --developer NAME` makes one. For a worktree, call `workspace_list`.',
  },
} satisfies ErrorCodes;
