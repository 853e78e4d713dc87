import type { ErrorCodes } from './index.ts';

export const toolsCodes = {
  APPROVAL_CLOSED: {
    meaning: 'The approval has already been decided or has lapsed.',
    cause: 'Somebody decided first, or the deadline passed.',
    next: 'Run `covenant approvals list` to see the calls that wait for approval.',
  },
  APPROVAL_REFUSED: {
    meaning: 'A person rejected this call.',
    cause: "The grant requires a person's approval for each call, and a person rejected this one.",
    next: 'Do not repeat the call. Choose another way, or ask your user.',
  },
  APPROVAL_TIMEOUT: {
    meaning: 'Nobody approved the call in time.',
    cause: "The grant requires a person's approval for each call, and nobody answered.",
    next: 'Call again with the same arguments, and ask your user to approve it while it waits: `covenant approvals list`, then `covenant approvals approve ID`.',
  },
  APPROVAL_UNKNOWN: {
    meaning: '`requestState` does not belong to an approval of this call.',
    cause: '`requestState` comes from another call or caller, or it was already used.',
    next: 'Call again without `requestState`.',
  },
  CAPABILITY_DENIED: {
    meaning: 'The caller has no capability for this tool.',
    cause: 'No active grant covers the tool, its toolset or these arguments.',
    next: 'Ask the operator to run the command in the message: `covenant capabilities grant tool.call.NAME`. `covenant capabilities explain NAME` shows the reason.',
  },
  GRANT_NOT_FOUND: {
    meaning: 'No active grant matches the request.',
    cause: 'The grant does not exist or was revoked.',
    next: 'Run `covenant capabilities list`.',
  },
  INPUT_REQUIRED: {
    meaning: 'The external server asks for more input, which this client cannot give.',
    cause: 'The tool uses elicitation or sampling, and the client did not declare support for it.',
    next: 'Call the tool from an MCP client that supports it.',
  },
  INVALID_TOOL: {
    meaning: 'The cycle contract has no such tool.',
    cause: 'The name is misspelt or the tool does not exist.',
    next: 'List the tools of `/mcp/cycle` and use one of their names.',
  },
  NOTHING_WITHHELD: {
    meaning: 'The server has no withheld definition with this name. Nothing changed.',
    cause: 'The definition was approved or rejected earlier, or it has not changed.',
    next: 'Run `covenant servers list`.',
  },
  NOT_APPROVED: {
    meaning: 'Nothing was approved.',
    cause: 'The definition changed again while you read it, or its name belongs to another tool.',
    next: 'Run `covenant servers approve NAME` again and read the new difference. If the name belongs to another tool, run `covenant servers list` to find it.',
  },
  NOT_REJECTED: {
    meaning: 'Nothing was rejected.',
    cause: 'The definition changed again while you read it, or its name belongs to another tool.',
    next: 'Read the new difference on the dashboard, or run `covenant servers approve NAME` at a terminal and answer no. Then run `covenant servers reject NAME`. If the name belongs to another tool, run `covenant servers list` to find it.',
  },
  ROUND_UNKNOWN: {
    meaning: 'The call cannot continue from this `requestState`.',
    cause: 'The call has ended, its `requestState` is too old, or it belongs to another call.',
    next: 'Call again without `requestState`.',
  },
  SECRETS_INVALID: {
    meaning: 'secrets.toml cannot be used.',
    cause: 'A line is not valid, others can read the file, or the server cannot read it.',
    next: 'Correct the line that the message names. If others can read the file, run `chmod 600` on it. If the server cannot read it, make it a regular file that the account of the server can read. A running server notices the change and reads the file again.',
  },
  SERVERS_NOT_RUN: {
    meaning: 'External servers run only while Covenant runs.',
    cause: 'No Covenant server of this home is running.',
    next: 'Run `covenant up`.',
  },
  SERVER_CONFIGURED: {
    meaning: 'The server still has an entry in secrets.toml.',
    cause: 'Only servers without an entry can be forgotten.',
    next: 'Remove its `[[mcp.server]]` table, then run `covenant servers forget NAME`.',
  },
  SERVER_DISABLED: {
    meaning: 'The external server is disabled.',
    cause: 'Its entry in secrets.toml has `enabled = false`.',
    next: 'Set `enabled = true`, then run `covenant servers restart NAME`.',
  },
  SERVER_NOT_FOUND: {
    meaning: 'There is no external server with this name.',
    cause: 'The name is wrong, or its entry in secrets.toml was removed or skipped.',
    next: 'Run `covenant servers list`.',
  },
  SERVER_SKIPPED: {
    meaning: 'The entry of this external server was skipped.',
    cause: 'The entry in secrets.toml is not valid.',
    next: 'Correct the line that the message names, then run `covenant servers restart NAME`.',
  },
  TOOL_NOT_FOUND: {
    meaning: 'There is no tool with this name.',
    cause: 'The name is wrong, or its external server no longer lists it.',
    next: 'Run `covenant tools list`.',
  },
  TOOL_TIMEOUT: {
    meaning: 'The call took too long, so the server ended it.',
    cause: '`MCP_TOOL_TIMEOUT` limits a call, in milliseconds. The default is 30,000.',
    next: 'Check whether the tool has finished its work, and call again only if the change is missing.',
  },
  TOOL_WITHHELD: {
    meaning: "The tool's definition is new or changed and has not been approved.",
    cause: 'Covenant pins the definitions of external servers, and this one differs from the approved one.',
    next: 'Ask the operator to read and approve it: `covenant servers approve SERVER --tool NAME`.',
  },
  TOO_MANY_APPROVALS: {
    meaning: 'Too many calls of this token wait for approval.',
    cause: 'The number of calls of one token that may wait at the same time is limited.',
    next: 'Wait until a person decides on them (`covenant approvals list`), then call again.',
  },
  TOO_MANY_QUESTIONS: {
    meaning: 'Too many calls to this external server wait for input.',
    cause: "Other callers have not answered the server's questions.",
    next: 'Call again in a few minutes.',
  },
  UNKNOWN_PROMPT: {
    meaning: 'There is no prompt with this name.',
    cause: 'The name is wrong, or its server no longer lists it.',
    next: 'Send `prompts/list` and use one of its names.',
  },
  UNKNOWN_TOOL: {
    meaning: 'There is no tool with this name.',
    cause: 'The name is misspelt, or the tool is not in this toolset.',
    next: 'Use the nearest name that the message gives, or send `tools/list`.',
  },
  UPSTREAM_DOWN: {
    meaning: 'The external server is down.',
    cause: 'Its process ended, or its address does not answer. Covenant restarts the server, with a longer pause after each attempt.',
    next: 'Call again later. The operator runs `covenant servers logs NAME` and `covenant servers restart NAME`.',
  },
  UPSTREAM_ERROR: {
    meaning: 'The external server answered with an error.',
    cause: "The message contains the server's own text.",
    next: 'Correct the arguments. If they are right, the operator runs `covenant servers logs NAME`.',
  },
  UPSTREAM_INVALID: {
    meaning: 'The answer of the external server is not valid MCP.',
    cause: 'The external server has a fault, or it was stopped while it answered.',
    next: 'Ask the operator to run `covenant servers logs NAME`.',
  },
} satisfies ErrorCodes;
