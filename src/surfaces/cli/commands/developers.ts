import { call, calling } from '../call.ts';
import type { CliCommand, CommandOptions, Invocation } from '../command.ts';
import { counted, type TableShape, table } from '../output.ts';

async function setPermission(invocation: Invocation, allowed: boolean) {
  const [developer] = invocation.positionals;
  const set = await call(invocation, 'developers.set_run_agents', { developer, allowed });
  const may = allowed
    ? `${developer} may run agents on this machine.`
    : `${developer} may no longer run agents on this machine. Agents that are already running continue.`;
  return { json: { kind: 'developer', ...set }, text: may };
}

const DEVELOPERS: TableShape = {
  head: ['DEVELOPER', 'NAME', 'ROLE', 'VISIBILITY', 'RUNS AGENTS'],
  narrow: [
    ['NAME', 12],
    ['VISIBILITY', 0],
  ],
};
const NAME = { name: 'NAME', description: 'The name of the developer.' } as const;
const RUN_AGENTS = { 'run-agents': { description: "The permission to run agents on the server's machine.", required: true } } as const satisfies CommandOptions;

export const developerCommands: readonly CliCommand[] = [
  calling({
    name: 'developers list',
    summary: 'List the developers of the workspace.',
    examples: ['developers list'],
    action: 'developers.list',
    kind: 'developer_list',
    text({ items }, { out }) {
      const rows = items.map(({ developer_id, name, role, visibility, run_agents }) => [developer_id, name, role, visibility, run_agents ? 'yes' : 'no']);
      return table(DEVELOPERS, rows, out.columns);
    },
  }),
  {
    name: 'developers allow',
    summary: "Allow a developer to run agents on the server's machine.",
    description: 'Only the operator of the server can give this permission.',
    arguments: [NAME],
    options: RUN_AGENTS,
    examples: ['developers allow mira --run-agents'],
    run: (invocation) => setPermission(invocation, true),
  },
  {
    name: 'developers disallow',
    summary: "Withdraw a developer's permission to run agents.",
    description: 'Agents that are already running continue.',
    arguments: [NAME],
    options: RUN_AGENTS,
    examples: ['developers disallow mira --run-agents'],
    run: (invocation) => setPermission(invocation, false),
  },
  calling({
    name: 'developers visibility',
    summary: 'Show a developer to the team by name, or as @private.',
    arguments: [
      { ...NAME, field: 'developer' },
      {
        name: 'VISIBILITY',
        description: '`team` shows the name. `private` shows @private instead of the name.',
        choices: ['team', 'private'],
        field: 'visibility',
      },
    ],
    examples: ['developers visibility mira private'],
    action: 'developers.set_visibility',
    kind: 'developer',
    text: ({ visibility }, { positionals: [developer] }) => `${developer} is shown to ${visibility === 'team' ? 'the team by name' : 'others as @private'}.`,
  }),
  calling({
    name: 'developers signout',
    summary: "End a developer's dashboard sessions and cancel their sign-in links.",
    description: 'The tokens of their agents stay valid.',
    arguments: [{ ...NAME, field: 'developer' }],
    examples: ['developers signout mira'],
    action: 'developers.sign_out',
    kind: 'developer_signed_out',
    text: ({ developer, sessions }) => `Signed out ${developer}: ${counted(sessions, 'session')} ended.`,
  }),
];
