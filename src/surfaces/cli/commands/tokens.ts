import { calling } from '../call.ts';
import { type CliCommand, given, type Invocation, option } from '../command.ts';
import { age, table } from '../output.ts';

const text = { type: 'string' } as const;

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
