import { shellQuoted } from '../wire/shell-quoted.ts';
import type { Principal } from './call.ts';
import { workspaceFlag } from './ids.ts';
import type { PublishedTool } from './publish.ts';
import { accessOf } from './registry.ts';
import { type Refused, refused } from './reply.ts';

/** Actions are authorized by the caller's role; tools by grants. */

const tokenRequired = ({ name }: PublishedTool): Refused =>
  refused('error', 'TOKEN_REQUIRED', `${name} needs a developer's or agent's token.`, 'Send one in the header: Authorization: Bearer cv_…');

/** Requires a recent sign-in for actions that give out rights, in case a session's cookie and proof were stolen. */
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
    `${action.name} gives out rights or secrets and needs a sign-in within the last ${Math.round(freshMs / 60_000)} minutes.`,
    `On the server's machine, run \`covenant open --developer ${developerName === null ? 'NAME' : shellQuoted(developerName)}${workspaceFlag(workspace)}\`, or ask the operator for a sign-in link. Open the link in this browser, then try again.`,
  );
}

/** Agents run with the rights of the server's OS user, regardless of the workspace they work in. */
const machineDenied = ({ name }: PublishedTool, { developerName, workspace }: Principal): Refused =>
  refused(
    'error',
    'MACHINE_PERMISSION_REQUIRED',
    `${name} runs programs on the server's machine. Operator rights in this workspace are not enough for that.`,
    `Ask the operator of the server to run \`covenant developers allow ${developerName === null ? 'NAME' : shellQuoted(developerName)} --run-agents${workspaceFlag(workspace)}\`.`,
  );

export function roleDenial(principal: Principal, action: PublishedTool): Refused | undefined {
  const access = accessOf(action);
  if (access === 'token') return principal.web || principal.developerId === null ? tokenRequired(action) : undefined;
  if (principal.kind === 'operator') return undefined;
  if (access === 'machine' && principal.operator) return principal.runsAgents ? undefined : machineDenied(action, principal);
  if (access !== 'server' && principal.operator) return undefined;
  if (access === 'member' && principal.web) return undefined;
  const who = access === 'member' ? 'people on the dashboard and operators' : 'operators of this server';
  const next =
    access === 'server'
      ? "Ask the operator of the server to run the command for it (`covenant --help`) on the server's machine. A dashboard sign-in cannot make this call."
      : access === 'member'
        ? "Sign in to the dashboard (`covenant open`) and do it there, or ask the operator to run the `covenant` command on the server's machine."
        : "Ask the operator to run the `covenant` command on the server's machine, or sign in to the dashboard as the workspace's first developer.";
  return refused('error', 'OPERATOR_REQUIRED', `${action.name} is only for ${who}.`, next);
}
