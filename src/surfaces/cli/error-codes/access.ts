import type { ErrorCodes } from './index.ts';

export const accessCodes = {
  BODY_STALLED: {
    meaning: 'The rest of the request did not arrive.',
    cause: 'The connection stalled for 10 seconds in the middle of the body.',
    next: 'Send the whole request again.',
  },
  BODY_TOO_LARGE: {
    meaning: 'The request body is too large.',
    cause: 'The body is larger than the limit in the message. Calls without a token in a header have a smaller limit.',
    next: 'Send less in one call, and send the token as `Authorization: Bearer cv_…`.',
  },
  CALLER_GONE: {
    meaning: 'The caller disconnected before its call began.',
    cause: 'The client closed the connection while the call waited.',
    next: 'Call again.',
  },
  DEVELOPER_NOT_FOUND: {
    meaning: 'The workspace has no developer with this name.',
    cause: 'The name is misspelt, nobody created a token for that person, or the developer is private.',
    next: 'Call `covibe_team` operation `state`. It shows which developers have current work or sessions. At a terminal, run `covenant developers list`, or `covenant tokens create --developer NAME` to add one.',
  },
  DEVELOPER_REQUIRED: {
    meaning: 'The call needs the token of a developer or agent.',
    cause: "The call used the operator's token.",
    next: 'Create a token with `covenant tokens create --developer NAME`, then call again with that token.',
  },
  DEVICE_CONSUMED: {
    meaning: 'The server sent the tokens for this code, but they did not arrive.',
    cause: 'The connection broke while the server sent the tokens.',
    next: 'Run `covenant devices list`, then `covenant devices revoke DEVICE_ID`. Then run `covibe-local setup` again.',
  },
  DEVICE_DENIED: {
    meaning: 'A person rejected the device.',
    cause: 'A person rejected the code on the dashboard or with `covenant devices reject`.',
    next: 'If that was a mistake, run `covibe-local setup` again and approve the new code.',
  },
  DEVICE_EXPIRED: {
    meaning: 'Nobody approved the code in time.',
    cause: 'A code is valid for ten minutes.',
    next: 'Run `covibe-local setup` again and approve the new code.',
  },
  DEVICE_NOT_FOUND: {
    meaning: 'No device with this code waits for approval.',
    cause: 'The code is mistyped, expired or already decided.',
    next: 'Compare the code with the one that the device shows. `covenant devices list` lists the devices.',
  },
  FOREIGN_HOST: {
    meaning: 'The request names a host that the server does not accept.',
    cause: 'The host name in the Host header is not in `allowed_hosts`. The server refuses such requests, because other web pages could use them for attacks.',
    next: 'Call the server by its own name. Or set `allowed_hosts = ["NAME"]` in config.toml, with the host name that callers use, then restart the server.',
  },
  FOREIGN_ORIGIN: {
    meaning: 'The request comes from a web page of another origin.',
    cause: 'The Origin header is not in `allowed_origins`.',
    next: "Open the dashboard at the server's own address. Or add the origin to `allowed_origins` in config.toml, then restart the server.",
  },
  INVALID_INPUT: {
    meaning: 'An input field is not valid.',
    cause: 'A field is missing, unknown, misspelt, too long or has the wrong type.',
    next: 'Correct the fields that `issues` names, then call again.',
  },
  INVALID_STATE: {
    meaning: 'The current state of the object does not allow this call.',
    cause: 'The object has already ended, or the call belongs to another step of its work.',
    next: 'Follow the next step in the message. It says which calls the current state allows.',
  },
  JOURNAL_QUOTA_EXCEEDED: {
    meaning: 'The token has used its journal quota for today.',
    cause: 'Each token can add a limited number of events to the journal each day.',
    next: 'Finish or hand off the work: heartbeats, releases, completions and hand-offs still work. Continue after 00:00 UTC, or ask the operator to raise `journal_events_per_day` under `[limits]` in config.toml and to restart the server.',
  },
  MACHINE_PERMISSION_REQUIRED: {
    meaning: "The developer may not run programs on the server's machine.",
    cause: "Starting or messaging agents runs programs on the server's machine, which needs its own permission.",
    next: 'Ask the operator of the server to run `covenant developers allow NAME --run-agents`. Outside the default workspace, add `--workspace WORKSPACE`.',
  },
  MALFORMED_REQUEST: {
    meaning: 'The request is not in the expected form.',
    cause: 'The body is not valid JSON, or a parameter is missing.',
    next: 'Send the form that the message shows. `POST /api/mcp` takes {"tool": "…", "arguments": {…}}.',
  },
  MALFORMED_TOKEN: {
    meaning: 'The token contains characters that no token has.',
    cause: 'The token was cut off, or it was copied with quotes or spaces.',
    next: 'Set COVIBE_MCP_TOKEN to the token exactly as it was issued (cv_…), or unset the variable. If you are an agent, ask your user to do this.',
  },
  NATIVE_PAYLOAD: {
    meaning: 'The server does not accept the hook payload of this agent program.',
    cause: 'The payload contains prompts and file contents. The server stored nothing from the payload.',
    next: 'Run `covibe-local setup --hooks command`, which sends only names and paths.',
  },
  NOT_FOUND: {
    meaning: 'Nothing exists at this address or with this id.',
    cause: 'The path or id is wrong.',
    next: 'Agents connect to `/mcp`, and people open `/`. If you used an id, check it, or search for the object on the dashboard (`covenant open`).',
  },
  NOT_YOURS: {
    meaning: 'You can do this only for yourself.',
    cause: 'The call names another developer.',
    next: 'Repeat the call with `developer` set to your own name. To see the access of another developer, ask the operator to run `covenant capabilities explain TOOL --developer NAME`.',
  },
  OPERATOR_REQUIRED: {
    meaning: 'Only the operator may do this.',
    cause: 'The call used the token of a developer or an agent, or a dashboard session without the right.',
    next: "Follow the next step in the message. In most cases, ask the operator to run the `covenant` command on the server's machine, or sign in to the dashboard as the workspace's first developer.",
  },
  PROOF_REQUIRED: {
    meaning: 'The request has a sign-in cookie, but the proof issued with the cookie is missing or wrong.',
    cause: 'Another page or program sent the cookie, and a cookie alone is not enough.',
    next: 'Run `covenant open` and open the link in this browser. Scripts send the `proof` that `POST /api/signin` returned.',
  },
  RATE_LIMITED: {
    meaning: 'The caller sent too many requests in a short time.',
    cause: 'The token or the IP address has exceeded its rate limit.',
    next: 'Wait for the number of seconds in `Retry-After`, then call again.',
  },
  READ_ONLY: {
    meaning: 'The terminal is open for reading only.',
    cause: 'The terminal was opened without `?write=1`, or the agent runs without tmux.',
    next: 'Connect with `?write=1`, or run `covenant instances attach ID --write`. An agent without tmux has no terminal: run `covenant instances message ID --text TEXT`.',
  },
  SERVER_BUSY: {
    meaning: 'The server has no memory left for this request.',
    cause: 'The server handles many large requests, or this token has several in progress.',
    next: 'Send the request again in 2 seconds.',
  },
  SESSION_REQUIRED: {
    meaning: 'Only a dashboard session can call this action.',
    cause: 'The call used a token instead of a sign-in cookie.',
    next: 'Send the token as `Authorization: Bearer cv_…` with each request. A token needs neither a session nor a ticket.',
  },
  SIGNED_IN_AS_ANOTHER: {
    meaning: 'The browser is signed in as another account.',
    cause: 'The sign-in link belongs to another developer or workspace.',
    next: 'To switch accounts, confirm on the page. If you did not expect the link, close the page.',
  },
  SIGNED_OUT: {
    meaning: 'You are not signed in.',
    cause: 'The dashboard session has expired or was ended.',
    next: "Run `covenant open` on the server's machine and open the link.",
  },
  SIGNIN_LINK_INVALID: {
    meaning: 'The sign-in link was already used, or it has expired.',
    cause: 'A link can be used only once, within ten minutes.',
    next: 'Run `covenant open` for a new link.',
  },
  SIGN_IN_AGAIN: {
    meaning: 'The action needs a recent sign-in.',
    cause: 'Actions that give out rights or secrets need a sign-in within the last few minutes.',
    next: 'Run `covenant open` with the options in the message and open the link in this browser. Then try again.',
  },
  TICKET_REQUIRED: {
    meaning: 'A browser needs a ticket to open this address.',
    cause: 'A browser with a sign-in cookie needs a ticket to open a socket. Each ticket can be used once, within 30 seconds.',
    next: 'Call the action `session.ticket` with {"path": "…"}, then open the address with `?ticket=…`.',
  },
  TOKEN_ENDED: {
    meaning: 'The token was revoked or has expired.',
    cause: 'A token that has ended cannot be rotated.',
    next: 'Create a new token with the command in the message: `covenant tokens create --developer NAME`. For an agent, add `--agent AGENT`.',
  },
  TOKEN_NOT_ROTATABLE: {
    meaning: 'This kind of token cannot be rotated.',
    cause: 'Only the tokens of agents and developers can be rotated.',
    next: "For a dashboard session, sign in again with `covenant open`. The token of an instance ends with the instance. To replace the operator's token, run `covenant tokens revoke ID`, stop the server, then run `covenant up`.",
  },
  TOKEN_REQUIRED: {
    meaning: 'The call needs the token of a developer or agent.',
    cause: "A dashboard cookie or the operator's token was used.",
    next: 'Send the token of a developer or agent as `Authorization: Bearer`.',
  },
  TOKEN_REVOKED: {
    meaning: 'The token ended while the call waited for approval.',
    cause: 'The token was revoked or expired while a person decided on the call.',
    next: 'Ask the operator to create a new token: `covenant tokens create --developer NAME`. For an agent, add `--agent AGENT`.',
  },
  TOO_MANY_CODES: {
    meaning: 'Too many wrong device codes were tried.',
    cause: 'The server limits how many codes can be tried in a short time.',
    next: 'Wait for the number of seconds in the message, then enter the code that the device shows.',
  },
  TOO_MANY_DEVICES: {
    meaning: 'Too many devices wait for approval.',
    cause: 'Many setups were started, and nobody has approved or rejected them.',
    next: 'Run `covenant devices list`, approve or reject the waiting devices, then run `covibe-local setup` again.',
  },
  TOO_MANY_SOCKETS: {
    meaning: 'Too many sockets are open.',
    cause: 'The token or the server has reached its limit of open connections.',
    next: 'Close an open socket, then connect again.',
  },
  UNAUTHENTICATED: {
    meaning: 'The call has no valid token.',
    cause: 'The token is missing, wrong, revoked or expired.',
    next: 'Send `Authorization: Bearer cv_…`. The operator creates a token with `covenant tokens create --developer NAME`.',
  },
  UNKNOWN_ACTION: {
    meaning: 'The server has no such action.',
    cause: 'The command line program and the server have different versions.',
    next: 'Run `covenant doctor`, which shows both versions. Then stop the server and run `covenant up`, or install the version that the server runs.',
  },
  WORKSPACE_NOT_FOUND: {
    meaning: 'There is no workspace with this name or id.',
    cause: 'The name is misspelt, or the workspace does not exist yet.',
    next: 'To create the workspace, run `covenant tokens create --workspace NAME --developer NAME`. To find the id of a worktree, call `workspace_list` with `workflow_id`.',
  },
} satisfies ErrorCodes;
