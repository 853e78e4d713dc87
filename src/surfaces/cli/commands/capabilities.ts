import type { explainCapability } from '../../../features/core/capabilities/contract.ts';
import type { Output as Answer } from '../../../kernel/contract.ts';
import { type CliCommand, given, type Invocation, option, UsageError } from '../command.ts';
import { table } from '../output.ts';

const SUBJECT = { developer: { type: 'string' }, token: { type: 'string' }, instance: { type: 'string' } } as const;

interface GrantItem {
  grant_id: string;
  subject_name: string;
  action: string;
  scope: { max_uses?: number; max_per_minute?: number; expires_at?: number; arguments?: unknown; approve?: boolean | 'client' };
  uses: number;
  status: string;
}

const SAID = { open: 'yes, it needs no grant', yes: 'yes', asks: 'yes, when a person approves the call', limited: 'yes, with certain arguments', no: 'no' };

export const capabilityCommands: readonly CliCommand[] = [
  {
    name: 'capabilities grant',
    summary: 'Give the operator, or the named subject, the right to call a tool.',
    positionals: ['ACTION'],
    options: { ...SUBJECT, scope: { type: 'string' }, 'expires-in-minutes': { type: 'string' } },
    async run(invocation) {
      const scope = parseScope(invocation);
      const minutes = option(invocation, 'expires-in-minutes');
      if (minutes !== undefined && !/^[1-9]\d{0,6}$/.test(minutes)) throw new UsageError('--expires-in-minutes is not a number');
      const client = await invocation.client();
      const grant = await client.action('capabilities.grant', {
        action: invocation.positionals[0],
        ...given(invocation, 'developer', 'token', 'instance'),
        ...(scope === undefined ? {} : { scope }),
        ...(minutes === undefined ? {} : { expires_in_minutes: Number(minutes) }),
      });
      return { json: { kind: 'capability_granted', ...grant }, text: `Granted ${grant.action} to ${grant.subject_name} (${grant.grant_id}).` };
    },
  },
  {
    name: 'capabilities explain',
    summary: 'Whether the operator, or the named subject, can call a tool, and by which grant.',
    positionals: ['TOOL'],
    options: SUBJECT,
    async run(invocation) {
      const input = { name: invocation.positionals[0], ...given(invocation, 'developer', 'token', 'instance') };
      const answer = (await (await invocation.client()).action('capabilities.explain', input)) as unknown as Answer<typeof explainCapability>;
      const { good, bad, wait } = invocation.out.mark;
      const lines = answer.answers.map(({ name, label, answer: said, message, grant }) => {
        const mark = said === 'no' ? bad : said === 'asks' || said === 'limited' ? wait : good;
        return `${mark} ${[name, label].filter(Boolean).join(', ')}: ${SAID[said]}${grant ? `, by ${grant.grant_id} (${scopeWords(grant)})` : ''}${message ? `. ${message}` : ''}`;
      });
      const missing = answer.tool === null ? [`${wait} There is no tool of this name now.`] : [];
      const more = answer.more > 0 ? [`and ${answer.more} more tokens`] : [];
      return { json: { kind: 'capability_explained', ...answer }, text: [...lines, ...more, ...missing].join('\n') };
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
      const items = await everyGrant(invocation);
      const rows = items.map((g) => [g.grant_id, g.subject_name, g.action, g.status, scopeWords(g)]);
      return { json: { kind: 'capability_list', items }, text: table(['GRANT', 'SUBJECT', 'ACTION', 'STATUS', 'SCOPE'], rows) };
    },
  },
];

/** Oldest first, whatever the number of pages. */
async function everyGrant(invocation: Invocation): Promise<GrantItem[]> {
  const client = await invocation.client();
  const all: GrantItem[] = [];
  for (;;) {
    const before = all.at(-1)?.grant_id;
    const page = await client.action('capabilities.list', before === undefined ? {} : { before });
    const { items, more } = page as unknown as { items: GrantItem[]; more: boolean };
    all.push(...items);
    if (!more) return all.reverse();
  }
}

function parseScope(invocation: Invocation): unknown {
  const text = option(invocation, 'scope');
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError('--scope is not valid JSON');
  }
}

function scopeWords({ scope, uses }: Pick<GrantItem, 'scope' | 'uses'>): string {
  const words = [];
  if (scope.max_uses !== undefined) words.push(`${uses} of ${scope.max_uses} uses`);
  if (scope.max_per_minute !== undefined) words.push(`${scope.max_per_minute} a minute`);
  if (scope.expires_at !== undefined) words.push(`until ${new Date(scope.expires_at).toISOString()}`);
  if (scope.arguments !== undefined) words.push('certain arguments only');
  if (scope.approve) words.push(scope.approve === 'client' ? 'each call approved by a person, or in its client' : 'each call approved by a person');
  return words.join(', ') || 'standing';
}
