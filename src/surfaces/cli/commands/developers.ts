import { call, calling } from '../call.ts';
import { type CliCommand, CliError, type Invocation } from '../command.ts';
import { counted, table } from '../output.ts';

async function setPermission(invocation: Invocation, allowed: boolean) {
  const [developer] = invocation.positionals;
  if (invocation.values['run-agents'] !== true) {
    throw new CliError('INVALID_INPUT', 'The permission is not named.', `covenant developers ${allowed ? 'allow' : 'disallow'} ${developer} --run-agents`);
  }
  const set = await call(invocation, 'developers.set_run_agents', { developer, allowed });
  const may = allowed ? `${developer} may run agents on this machine.` : `${developer} may no longer run agents on this machine. Those that run go on.`;
  return { json: { kind: 'developer', ...set }, text: may };
}

/** The people of a workspace. */
export const developerCommands: readonly CliCommand[] = [
  calling({
    name: 'developers list',
    summary: 'Who is in the workspace.',
    action: 'developers.list',
    kind: 'developer_list',
    text: ({ items }) =>
      table(
        ['DEVELOPER', 'NAME', 'ROLE', 'VISIBILITY', 'RUNS AGENTS'],
        items.map(({ developer_id, name, role, visibility, run_agents }) => [developer_id, name, role, visibility, run_agents ? 'yes' : 'no']),
      ),
  }),
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
  calling({
    name: 'developers visibility',
    summary: 'Show a developer to the team by name (team), or as @private (private).',
    positionals: { NAME: 'developer', 'team|private': 'visibility' },
    action: 'developers.set_visibility',
    kind: 'developer',
    text: ({ visibility }, { positionals: [developer] }) => `${developer} is shown to ${visibility === 'team' ? 'the team by name' : 'others as @private'}.`,
  }),
  calling({
    name: 'developers signout',
    summary: 'End every dashboard session of a developer, and their unused sign-in links. Tokens of agents stay.',
    positionals: { NAME: 'developer' },
    action: 'developers.sign_out',
    kind: 'developer_signed_out',
    text: ({ developer, sessions }) => `Signed out ${developer}: ${counted(sessions, 'session')} ended.`,
  }),
];
