import { printableLine } from '../../../wire/printable.ts';
import { call, calling, type ItemOf } from '../call.ts';
import { type CliCommand, given, type Invocation, option, UsageError } from '../command.ts';
import { table } from '../output.ts';

const SUBJECT = { developer: { type: 'string' }, token: { type: 'string' }, instance: { type: 'string' } } as const;

type Grant = ItemOf<'capabilities.list'>;

const SAID = { open: 'yes, it needs no grant', yes: 'yes', asks: 'yes, when a person approves the call', limited: 'yes, with certain arguments', no: 'no' };

export const capabilityCommands: readonly CliCommand[] = [
  calling({
    name: 'capabilities grant',
    summary: 'Give the operator, or the named subject, the right to call a tool.',
    positionals: { ACTION: 'action' },
    options: { ...SUBJECT, scope: { type: 'string' }, 'expires-in-minutes': { type: 'string' } },
    action: 'capabilities.grant',
    input(invocation) {
      const scope = parseScope(invocation);
      const minutes = option(invocation, 'expires-in-minutes');
      if (minutes !== undefined && !/^[1-9]\d{0,6}$/.test(minutes)) throw new UsageError('--expires-in-minutes is not a number');
      return {
        ...given(invocation, ...Object.keys(SUBJECT)),
        ...(scope === undefined ? {} : { scope }),
        ...(minutes === undefined ? {} : { expires_in_minutes: Number(minutes) }),
      };
    },
    kind: 'capability_granted',
    text: ({ action, subject_name, grant_id }) => `Granted ${action} to ${subject_name} (${grant_id}).`,
  }),
  calling({
    name: 'capabilities explain',
    summary: 'Whether the operator, or the named subject, can call a tool, and by which grant.',
    positionals: { TOOL: 'name' },
    options: SUBJECT,
    action: 'capabilities.explain',
    kind: 'capability_explained',
    text({ answers, tool, more }, { out: { mark } }) {
      const lines = answers.map(({ name, label, answer: said, message, grant }) => {
        const sign = said === 'no' ? mark.bad : said === 'asks' || said === 'limited' ? mark.wait : mark.good;
        return `${sign} ${printableLine([name, label].filter(Boolean).join(', '))}: ${SAID[said]}${grant ? `, by ${grant.grant_id} (${scopeWords(grant)})` : ''}${message ? `. ${message}` : ''}`;
      });
      const missing = tool === null ? [`${mark.wait} There is no tool of this name now.`] : [];
      return [...lines, ...(more > 0 ? [`and ${more} more tokens`] : []), ...missing].join('\n');
    },
  }),
  {
    name: 'capabilities revoke',
    summary: 'Take back a grant, by its action and subject or by its id.',
    positionals: ['ACTION|GRANT_ID'],
    options: SUBJECT,
    async run(invocation) {
      const named = invocation.positionals[0] as string;
      const what = /^(tool|toolset|resource|prompt)\./.test(named) ? { action: named } : { grant_id: named };
      const { revoked } = await call(invocation, 'capabilities.revoke', { ...what, ...given(invocation, ...Object.keys(SUBJECT)) });
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
async function everyGrant(invocation: Invocation): Promise<Grant[]> {
  const all: Grant[] = [];
  for (;;) {
    const before = all.at(-1)?.grant_id;
    const { items, more } = await call(invocation, 'capabilities.list', before === undefined ? {} : { before });
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

function scopeWords({ scope, uses }: Pick<Grant, 'scope' | 'uses'>): string {
  const words = [];
  if (scope.max_uses !== undefined) words.push(`${uses} of ${scope.max_uses} uses`);
  if (scope.max_per_minute !== undefined) words.push(`${scope.max_per_minute} a minute`);
  if (scope.expires_at !== undefined) words.push(`until ${new Date(scope.expires_at).toISOString()}`);
  if (scope.arguments !== undefined) words.push('certain arguments only');
  if (scope.approve) words.push(scope.approve === 'client' ? 'each call approved by a person, or in its client' : 'each call approved by a person');
  return words.join(', ') || 'standing';
}
