import type { Call } from './call.ts';
import type { Principal } from './context.ts';
import type { Toolset } from './contract.ts';
import { ENVELOPES, type Envelope } from './envelope.ts';
import { namespaceOf } from './namespace.ts';
import type { PublishedTool } from './publish.ts';
import { accessOf } from './registry.ts';
import { type Refused, refused } from './reply.ts';
import { workspaceName } from './workspace.ts';

/** What the pipe says before a tool or an action has got the call, and in whose envelope. */

/** The toolset of a path that serves one alone. Only its tools exist there, so its grant decides what may be said. */
export const onlyToolset = ({ toolsets }: Pick<Call, 'toolsets'>): Toolset | undefined => (toolsets?.size === 1 ? [...toolsets][0] : undefined);

const speaksCycle = (call: Call): boolean => (onlyToolset(call) ?? namespaceOf(call.name)) === 'cycle';

/** What is said before a tool is known has the team envelope, except to the cycle contract's own names and on its path. */
export function fallbackEnvelope(call: Call): Envelope {
  if (call.noun === 'action') return ENVELOPES.admin;
  return speaksCycle(call) ? ENVELOPES.cycle : ENVELOPES.team;
}

/** The cycle contract has a code of its own for this. That a native tool is served elsewhere is no secret. */
export function unknownTool(call: Call, elsewhere: { toolset: Toolset } | undefined): Refused {
  const code = speaksCycle(call) ? 'INVALID_TOOL' : 'UNKNOWN_TOOL';
  const name = JSON.stringify(call.name);
  if (elsewhere && elsewhere.toolset !== 'gateway') {
    return refused('error', code, `The tool ${name} is not served on this path.`, `Connect to /mcp/${elsewhere.toolset} or /mcp/all.`);
  }
  return refused('error', code, `There is no tool ${name}.`, 'List the tools to see their names.');
}

export function unknownAction(name: string): Refused {
  return refused('error', 'UNKNOWN_ACTION', `There is no action ${JSON.stringify(name)}.`, 'Use a covenant of the same version as the server.');
}

export const opensWorkspace = (action: PublishedTool): boolean => [...action.operations.values()].some(({ contract }) => contract.opensWorkspace);

export function noWorkspace({ workspace }: Pick<Call, 'workspace'>): Refused {
  const command = `covenant tokens create --developer NAME --workspace ${workspace}`;
  return refused('error', 'WORKSPACE_NOT_FOUND', `There is no workspace ${JSON.stringify(workspace)}.`, `${command} makes it.`);
}

const tokenRequired = ({ name }: PublishedTool): Refused =>
  refused(
    'error',
    'TOKEN_REQUIRED',
    `${name} is for programs that act for a developer.`,
    'Send the token of a developer or an agent as Authorization: Bearer.',
  );

/** Whoever has a session's cookie and proof, but no link, gives out no rights with them for long. */
export function freshDenial(
  { web, signedInAt, developerName, workspace }: Principal,
  action: PublishedTool,
  now: number,
  freshMs: number,
): Refused | undefined {
  const isNeeded = [...action.operations.values()].some(({ contract }) => contract.fresh);
  if (!isNeeded || !web || (signedInAt !== null && now - signedInAt <= freshMs)) return undefined;
  return refused(
    'error',
    'SIGN_IN_AGAIN',
    `${action.name} gives out rights or secrets and needs a sign-in of the last ${Math.round(freshMs / 60_000)} minutes.`,
    `Run \`covenant open\` with --developer ${JSON.stringify(developerName)} --workspace ${workspaceName(workspace)} on the server's machine, or ask its operator for a sign-in link. Open the link in this browser, then try again.`,
  );
}

/** Agents run with the rights of the server's user, whosever workspace they work in. */
const machineDenied = ({ name }: PublishedTool): Refused =>
  refused(
    'error',
    'MACHINE_PERMISSION_REQUIRED',
    `${name} runs programs on the server's machine. Operator rights in this workspace are not enough for that.`,
    'Ask the operator of the server to run: covenant developers allow NAME --run-agents',
  );

export function roleDenial(principal: Principal, action: PublishedTool): Refused | undefined {
  const access = accessOf(action);
  if (access === 'token') return principal.web || principal.developerId === null ? tokenRequired(action) : undefined;
  if (principal.kind === 'operator') return undefined;
  if (access === 'machine' && principal.operator) return principal.runsAgents ? undefined : machineDenied(action);
  if (access !== 'server' && principal.operator) return undefined;
  if (access === 'member' && principal.web) return undefined;
  return refused(
    'error',
    'OPERATOR_REQUIRED',
    `${action.name} is for the operator of this server.`,
    'Run it with the covenant command on the server, or sign in as its first developer.',
  );
}
