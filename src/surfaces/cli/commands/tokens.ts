import { type CliCommand, given, type Invocation, option } from '../command.ts';
import { age, table } from '../output.ts';

interface TokenItem {
  token_id: string;
  kind: string;
  developer: string | null;
  agent: string | null;
  label: string;
  status: string;
  expires_at: number | null;
  last_used_at: number | null;
}

/** A number that was given as an option, as the field that it fills. */
function minutes(invocation: Invocation, name: string, field: string): Record<string, number> {
  const text = option(invocation, name);
  return text === undefined ? {} : { [field]: Number(text) };
}

const dayOf = (time: number | null): string => (time === null ? 'never' : new Date(time).toISOString().slice(0, 10));

export const tokenCommands: readonly CliCommand[] = [
  {
    name: 'tokens create',
    summary: 'Make a token for a developer, who is created on first use. Shown once.',
    options: { developer: { type: 'string' }, agent: { type: 'string' }, label: { type: 'string' }, 'expires-in-minutes': { type: 'string' } },
    async run(invocation) {
      const client = await invocation.client();
      const expiry = minutes(invocation, 'expires-in-minutes', 'expires_in_minutes');
      const created = await client.action('tokens.create', { ...given(invocation, 'developer', 'agent', 'label'), ...expiry });
      return {
        json: { kind: 'token_created', ...created },
        text: `${created.token}\n${created.label} for ${created.developer} (${created.token_id}), expires ${dayOf(created.expires_at as number | null)}. It is not shown again.`,
      };
    },
  },
  {
    name: 'tokens list',
    summary: 'The tokens of the workspace, without their values.',
    async run(invocation) {
      const { items, total } = (await (await invocation.client()).action('tokens.list')) as { items: TokenItem[]; total: number };
      const now = Date.now();
      const rows = items.map((t) => [t.token_id, t.developer ?? '—', t.agent ?? t.kind, t.label, t.status, dayOf(t.expires_at), age(t.last_used_at, now)]);
      const list = table(['TOKEN', 'DEVELOPER', 'FOR', 'LABEL', 'STATUS', 'EXPIRES', 'LAST USED'], rows);
      const text = total > items.length ? `${list}\n(${total - items.length} older ones are not shown)` : list;
      return { json: { kind: 'token_list', items, total }, text };
    },
  },
  {
    name: 'tokens rotate',
    summary: 'Give a token a new secret and keep its id. The old secret works for --overlap-minutes more: 1440 unless you say otherwise.',
    positionals: ['TOKEN_ID'],
    options: { 'overlap-minutes': { type: 'string' }, 'expires-in-minutes': { type: 'string' } },
    async run(invocation) {
      const rotated = await (await invocation.client()).action('tokens.rotate', {
        token_id: invocation.positionals[0],
        ...minutes(invocation, 'overlap-minutes', 'overlap_minutes'),
        ...minutes(invocation, 'expires-in-minutes', 'expires_in_minutes'),
      });
      return {
        json: { kind: 'token_rotated', ...rotated },
        text: `${rotated.token}\nThe new secret of ${rotated.token_id}. The old one works until ${new Date(rotated.old_ends_at as number).toISOString()}. It is not shown again.`,
      };
    },
  },
  {
    name: 'tokens revoke',
    summary: 'Refuse a token from the next call on.',
    positionals: ['TOKEN_ID'],
    async run(invocation) {
      const revoked = await (await invocation.client()).action('tokens.revoke', { token_id: invocation.positionals[0] });
      return { json: { kind: 'token_revoked', ...revoked }, text: `Revoked ${revoked.token_id}.` };
    },
  },
];
