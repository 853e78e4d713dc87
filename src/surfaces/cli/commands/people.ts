import { call, calling, type ItemOf } from '../ask.ts';
import { type CliCommand, CliError, given, type Invocation, option } from '../command.ts';
import { age, counted, list, table } from '../output.ts';

const text = { type: 'string' } as const;

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

/** Minutes as they were typed: the server says which fit. */
function minutes(invocation: Invocation, ...names: string[]): Record<string, number> {
  return Object.fromEntries(
    names.flatMap((name) => (option(invocation, name) === undefined ? [] : [[name.replaceAll('-', '_'), Number(option(invocation, name))]])),
  );
}

const dayOf = (time: number | null): string => (time === null ? 'never' : new Date(time).toISOString().slice(0, 10));

export const tokenCommands: readonly CliCommand[] = [
  calling({
    name: 'tokens create',
    summary: 'Make a token for a developer, who is created on first use. Shown once.',
    options: { developer: text, agent: text, label: text, 'expires-in-minutes': text },
    action: 'tokens.create',
    input: (invocation) => ({ ...given(invocation, 'developer', 'agent', 'label'), ...minutes(invocation, 'expires-in-minutes') }),
    kind: 'token_created',
    text: ({ token, label, developer, token_id, expires_at }) =>
      `${token}\n${label} for ${developer} (${token_id}), expires ${dayOf(expires_at)}. It is not shown again.`,
  }),
  calling({
    name: 'tokens list',
    summary: 'The tokens of the workspace, without their values.',
    action: 'tokens.list',
    kind: 'token_list',
    text({ items, total }) {
      const rows = items.map((t) => [t.token_id, t.developer ?? '—', t.agent ?? t.kind, t.label, t.status, dayOf(t.expires_at), age(t.last_used_at)]);
      const listed = table(['TOKEN', 'DEVELOPER', 'FOR', 'LABEL', 'STATUS', 'EXPIRES', 'LAST USED'], rows);
      return total > items.length ? `${listed}\n(${total - items.length} older ones are not shown)` : listed;
    },
  }),
  calling({
    name: 'tokens rotate',
    summary: 'Give a token a new secret and keep its id. The old secret works for --overlap-minutes more: 1440 unless you say otherwise.',
    positionals: { TOKEN_ID: 'token_id' },
    options: { 'overlap-minutes': text, 'expires-in-minutes': text },
    action: 'tokens.rotate',
    input: (invocation) => minutes(invocation, 'overlap-minutes', 'expires-in-minutes'),
    kind: 'token_rotated',
    text: ({ token, token_id, old_ends_at }) =>
      `${token}\nThe new secret of ${token_id}. The old one works until ${new Date(old_ends_at).toISOString()}. It is not shown again.`,
  }),
  calling({
    name: 'tokens revoke',
    summary: 'Refuse a token from the next call on.',
    positionals: { TOKEN_ID: 'token_id' },
    action: 'tokens.revoke',
    kind: 'token_revoked',
    text: ({ token_id }) => `Revoked ${token_id}.`,
  }),
];

const waits = ({ user_code, machine_name, agents, source }: ItemOf<'devices.waiting'>): string =>
  `${user_code}  ${machine_name} (${source}) asks for ${agents.join(', ')}`;

const deviceRow = ({ device_id, developer, machine_name, agents, status, last_used_at }: ItemOf<'devices.list'>): string[] => [
  device_id,
  developer,
  machine_name,
  agents.map(({ agent }) => agent).join(', '),
  status,
  age(last_used_at),
];

/** Machines whose agents got their tokens by the setup of the companion. */
export const deviceCommands: readonly CliCommand[] = [
  {
    name: 'devices list',
    summary: 'Machines that were set up, and those that wait to be approved.',
    async run(invocation) {
      const { items, total } = await call(invocation, 'devices.list');
      const waiting = (await call(invocation, 'devices.waiting')).items;
      const head = ['DEVICE', 'DEVELOPER', 'MACHINE', 'AGENTS', 'STATUS', 'LAST USED'];
      const set = list(head, items.map(deviceRow), 'No device was set up yet: covibe-local setup asks for it.');
      return { json: { kind: 'device_list', items, total, waiting }, text: [...waiting.map(waits), set].join('\n') };
    },
  },
  calling({
    name: 'devices approve',
    summary: 'Give a machine that shows this code a token for each of its agents, in the name of --developer.',
    positionals: { CODE: 'code' },
    options: { developer: text },
    action: 'devices.approve',
    kind: 'device_approved',
    text: ({ machine_name, agents, developer }) => `Approved ${machine_name} for ${developer}: ${agents.join(', ')}.`,
  }),
  calling({
    name: 'devices refuse',
    summary: 'Turn away a machine that shows this code.',
    positionals: { CODE: 'code' },
    action: 'devices.refuse',
    kind: 'device_refused',
    text: ({ machine_name }) => `Refused ${machine_name}.`,
  }),
  calling({
    name: 'devices revoke',
    summary: "Revoke every token of a machine's agents.",
    positionals: { DEVICE_ID: 'device_id' },
    action: 'devices.revoke',
    kind: 'device_revoked',
    text: ({ device_id, revoked }) => `Revoked ${counted(revoked.length, 'token')} of ${device_id}.`,
  }),
];
