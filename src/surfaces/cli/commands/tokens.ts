import { type Command, given, option } from '../command.ts';
import { age, table } from '../output.ts';

interface TokenItem {
  token_id: string;
  kind: string;
  developer: string | null;
  agent: string | null;
  label: string;
  status: string;
  last_used_at: number | null;
}

export const tokenCommands: readonly Command[] = [
  {
    name: 'tokens create',
    summary: 'Make a token for a developer, who is created on first use. Shown once.',
    options: { developer: { type: 'string' }, agent: { type: 'string' }, label: { type: 'string' }, 'expires-in-minutes': { type: 'string' } },
    async run(invocation) {
      const client = await invocation.client();
      const minutes = option(invocation, 'expires-in-minutes');
      const expiry = minutes === undefined ? {} : { expires_in_minutes: Number(minutes) };
      const created = await client.action('tokens.create', { ...given(invocation, 'developer', 'agent', 'label'), ...expiry });
      return {
        json: { kind: 'token_created', ...created },
        text: `${created.token}\n${created.label} for ${created.developer} (${created.token_id}). It is not shown again.`,
      };
    },
  },
  {
    name: 'tokens list',
    summary: 'The tokens of the workspace, without their values.',
    async run(invocation) {
      const { items, total } = (await (await invocation.client()).action('tokens.list')) as { items: TokenItem[]; total: number };
      const now = Date.now();
      const rows = items.map((t) => [t.token_id, t.developer ?? '—', t.agent ?? t.kind, t.label, t.status, age(t.last_used_at, now)]);
      const list = table(['TOKEN', 'DEVELOPER', 'FOR', 'LABEL', 'STATUS', 'LAST USED'], rows);
      const text = total > items.length ? `${list}\n(${total - items.length} older ones are not shown)` : list;
      return { json: { kind: 'token_list', items, total }, text };
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
