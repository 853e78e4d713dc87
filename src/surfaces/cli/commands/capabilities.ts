import { type Command, given, type Invocation, option, UsageError } from '../command.ts';
import { table } from '../output.ts';

const SUBJECT = { developer: { type: 'string' }, token: { type: 'string' }, instance: { type: 'string' } } as const;

interface GrantItem {
  grant_id: string;
  subject_name: string;
  action: string;
  scope: { max_uses?: number; max_per_minute?: number; expires_at?: number; arguments?: unknown; approve?: boolean };
  uses: number;
  status: string;
}

export const capabilityCommands: readonly Command[] = [
  {
    name: 'capabilities grant',
    summary: 'Give the operator, or the named subject, the right to call a tool.',
    positionals: ['ACTION'],
    options: { ...SUBJECT, scope: { type: 'string' } },
    async run(invocation) {
      const scope = parseScope(invocation);
      const client = await invocation.client();
      const grant = await client.action('capabilities.grant', {
        action: invocation.positionals[0],
        ...given(invocation, 'developer', 'token', 'instance'),
        ...(scope === undefined ? {} : { scope }),
      });
      return { json: { kind: 'capability_granted', ...grant }, text: `Granted ${grant.action} to ${grant.subject_name} (${grant.grant_id}).` };
    },
  },
  {
    name: 'capabilities revoke',
    summary: 'Take back a grant, by its action and subject or by its id.',
    positionals: ['ACTION|GRANT_ID'],
    options: SUBJECT,
    async run(invocation) {
      const named = invocation.positionals[0] as string;
      const what = /^(tool|toolset|resource|prompt)\./.test(named) ? { action: named } : { grant_id: named };
      const client = await invocation.client();
      const { revoked } = (await client.action('capabilities.revoke', { ...what, ...given(invocation, 'developer', 'token', 'instance') })) as {
        revoked: string[];
      };
      return { json: { kind: 'capability_revoked', revoked }, text: `Revoked ${revoked.join(', ')}.` };
    },
  },
  {
    name: 'capabilities list',
    summary: 'Every grant with its status.',
    async run(invocation) {
      const { items } = (await (await invocation.client()).action('capabilities.list')) as { items: GrantItem[] };
      const rows = items.map((g) => [g.grant_id, g.subject_name, g.action, g.status, scopeWords(g)]);
      return { json: { kind: 'capability_list', items }, text: table(['GRANT', 'SUBJECT', 'ACTION', 'STATUS', 'SCOPE'], rows) };
    },
  },
];

function parseScope(invocation: Invocation): unknown {
  const text = option(invocation, 'scope');
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError('--scope is not valid JSON');
  }
}

function scopeWords({ scope, uses }: GrantItem): string {
  const words = [];
  if (scope.max_uses !== undefined) words.push(`${uses} of ${scope.max_uses} uses`);
  if (scope.max_per_minute !== undefined) words.push(`${scope.max_per_minute} a minute`);
  if (scope.expires_at !== undefined) words.push(`until ${new Date(scope.expires_at).toISOString()}`);
  if (scope.arguments !== undefined) words.push('certain arguments only');
  if (scope.approve) words.push('each call approved by a person');
  return words.join(', ') || 'standing';
}
