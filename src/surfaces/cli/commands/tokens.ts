import { calling } from '../call.ts';
import { type CliCommand, given, type Invocation, option } from '../command.ts';
import { age, type TableShape, table } from '../output.ts';

/** How long the old secret works after a rotation, by default. A test checks that the server has the same default. */
export const OVERLAP_MINUTES = 1_440;

/** Returns the options that are given in minutes, as input of an action. The server checks whether the numbers are in range. */
function minutes(invocation: Invocation, ...names: string[]): Record<string, number> {
  return Object.fromEntries(
    names.flatMap((name) => (option(invocation, name) === undefined ? [] : [[name.replaceAll('-', '_'), Number(option(invocation, name))]])),
  );
}

const TOKENS: TableShape = {
  head: ['TOKEN', 'DEVELOPER', 'FOR', 'LABEL', 'STATUS', 'EXPIRES', 'LAST USED'],
  narrow: [
    ['LABEL', 12],
    ['LAST USED', 0],
    ['LABEL', 0],
    ['DEVELOPER', 10],
    ['FOR', 8],
  ],
};
const TOKEN_ID = { name: 'TOKEN_ID', description: 'The token id, or the last characters of the id.', field: 'token_id' } as const;
const EXPIRES = { value: 'N', description: 'The token expires after N minutes, from 1 to 525600.' } as const;

const dayOf = (time: number | null): string => (time === null ? 'never' : new Date(time).toISOString().slice(0, 10));

export const tokenCommands: readonly CliCommand[] = [
  calling({
    name: 'tokens create',
    summary: 'Create a token. It is printed once.',
    description: 'If the developer does not exist, the command creates the developer.',
    options: {
      developer: { value: 'NAME', description: 'The developer who owns the token.' },
      agent: { value: 'AGENT', description: 'The agent that uses it, such as codex.', default: "the developer's own token" },
      label: { value: 'TEXT', description: 'A name for the token.', default: 'the agent and a number, such as codex 2' },
      'expires-in-minutes': { ...EXPIRES, default: 'agent_token_days in config.toml for the tokens of agents' },
    },
    examples: ['tokens create --developer mira --agent codex'],
    action: 'tokens.create',
    input: (invocation) => ({ ...given(invocation, 'developer', 'agent', 'label'), ...minutes(invocation, 'expires-in-minutes') }),
    kind: 'token_created',
    text: ({ token, label, developer, token_id, expires_at }) =>
      `${token}\n${label} for ${developer} (${token_id}), expires ${dayOf(expires_at)}. The token is not shown again.`,
  }),
  calling({
    name: 'tokens list',
    summary: 'List the tokens of the workspace, without their secrets.',
    examples: ['tokens list'],
    action: 'tokens.list',
    kind: 'token_list',
    text({ items, total }, { out }) {
      const rows = items.map((t) => [t.token_id, t.developer ?? '—', t.agent ?? t.kind, t.label, t.status, dayOf(t.expires_at), age(t.last_used_at)]);
      const listed = table(TOKENS, rows, out.columns);
      return total > items.length ? `${listed}\n(${total - items.length} older tokens are not shown)` : listed;
    },
  }),
  calling({
    name: 'tokens rotate',
    summary: 'Give a token a new secret. The id of the token stays the same.',
    arguments: [TOKEN_ID],
    options: {
      'overlap-minutes': { value: 'N', description: 'The old secret still works for N minutes, from 0 to 10080.', default: OVERLAP_MINUTES },
      'expires-in-minutes': { ...EXPIRES, default: 'the full lifetime of an agent token; other tokens keep their expiry' },
    },
    examples: ['tokens rotate 4KQ2ZP', 'tokens rotate 4KQ2ZP --overlap-minutes 0'],
    action: 'tokens.rotate',
    input: (invocation) => minutes(invocation, 'overlap-minutes', 'expires-in-minutes'),
    kind: 'token_rotated',
    text: ({ token, token_id, old_ends_at }) =>
      `${token}\nThis is the new secret of ${token_id}. It is not shown again. The old secret works until ${new Date(old_ends_at).toISOString()}.`,
  }),
  calling({
    name: 'tokens revoke',
    summary: 'Revoke a token. Its next call is refused.',
    arguments: [TOKEN_ID],
    examples: ['tokens revoke 4KQ2ZP'],
    action: 'tokens.revoke',
    kind: 'token_revoked',
    text: ({ token_id }) => `Revoked ${token_id}.`,
  }),
];
