import type { listDevelopers, setRunAgents, setVisibility, signOutDeveloper } from '../../../features/core/identity/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand, CliError, type CommandResult, type Invocation } from '../command.ts';
import { counted, table } from '../output.ts';

const ask = asking<{
  'developers.list': Output<typeof listDevelopers>;
  'developers.set_visibility': Output<typeof setVisibility>;
  'developers.sign_out': Output<typeof signOutDeveloper>;
  'developers.set_run_agents': Output<typeof setRunAgents>;
}>();

async function setPermission(invocation: Invocation, allowed: boolean): Promise<CommandResult> {
  const [developer] = invocation.positionals;
  if (invocation.values['run-agents'] !== true) {
    throw new CliError('INVALID_INPUT', 'The permission is not named.', `covenant developers ${allowed ? 'allow' : 'disallow'} ${developer} --run-agents`);
  }
  const set = await ask(invocation, 'developers.set_run_agents', { developer, allowed });
  const text = allowed ? `${developer} may run agents on this machine.` : `${developer} may no longer run agents on this machine. Those that run go on.`;
  return { json: { kind: 'developer', ...set }, text };
}

/** The people of a workspace. */
export const developerCommands: readonly CliCommand[] = [
  {
    name: 'developers list',
    summary: 'Who is in the workspace.',
    async run(invocation) {
      const { items } = await ask(invocation, 'developers.list');
      const rows = items.map(({ developer_id, name, role, visibility, run_agents }) => [developer_id, name, role, visibility, run_agents ? 'yes' : 'no']);
      return { json: { kind: 'developer_list', items }, text: table(['DEVELOPER', 'NAME', 'ROLE', 'VISIBILITY', 'RUNS AGENTS'], rows) };
    },
  },
  {
    name: 'developers allow',
    summary: "Let a developer run agents on the server's machine. Only the operator of the server can.",
    positionals: ['NAME'],
    options: { 'run-agents': { type: 'boolean' } },
    run: (invocation) => setPermission(invocation, true),
  },
  {
    name: 'developers disallow',
    summary: 'Take that permission back.',
    positionals: ['NAME'],
    options: { 'run-agents': { type: 'boolean' } },
    run: (invocation) => setPermission(invocation, false),
  },
  {
    name: 'developers visibility',
    summary: 'Show a developer to the team by name (team), or as @private (private).',
    positionals: ['NAME', 'team|private'],
    async run(invocation) {
      const [developer, visibility] = invocation.positionals;
      const set = await ask(invocation, 'developers.set_visibility', { developer, visibility });
      return {
        json: { kind: 'developer', ...set },
        text: `${developer} is shown to ${set.visibility === 'team' ? 'the team by name' : 'others as @private'}.`,
      };
    },
  },
  {
    name: 'developers signout',
    summary: 'End every dashboard session of a developer, and their unused sign-in links. Tokens of agents stay.',
    positionals: ['NAME'],
    async run(invocation) {
      const { developer, sessions } = await ask(invocation, 'developers.sign_out', { developer: invocation.positionals[0] });
      return { json: { kind: 'developer_signed_out', developer, sessions }, text: `Signed out ${developer}: ${counted(sessions, 'session')} ended.` };
    },
  },
];
