import { printableLine } from '../../../wire/printable.ts';
import { call, calling, type ItemOf } from '../call.ts';
import { type CliCommand, type CommandOptions, given, type Invocation, option, UsageError } from '../command.ts';
import { type TableShape, table } from '../output.ts';

const SUBJECT = {
  developer: { value: 'NAME', description: 'The developer and all of their agents.', default: 'the operator' },
  token: { value: 'TOKEN_ID', description: 'One token.' },
  instance: { value: 'ID', description: 'One instance that the server runs.' },
} as const satisfies CommandOptions;

type Grant = ItemOf<'capabilities.list'>;

const SAID = { open: 'yes, no grant is needed', yes: 'yes', asks: 'yes, if a person approves the call', limited: 'yes, with certain arguments', no: 'no' };

export const capabilityCommands: readonly CliCommand[] = [
  calling({
    name: 'capabilities grant',
    summary: 'Give a developer, token or instance the right to call a tool.',
    description: 'ACTION is tool.call.NAME, or toolset.NAME for a whole toolset. `covenant tools list` prints the names.',
    arguments: [{ name: 'ACTION', description: 'The action, such as tool.call.echo.', field: 'action' }],
    options: {
      ...SUBJECT,
      scope: {
        value: 'JSON',
        description: 'Limits of the grant, such as {"max_uses": 5, "approve": true}. Other limits: max_per_minute, expires_at, arguments.',
        default: 'none',
      },
      'expires-in-minutes': { value: 'N', description: 'The grant ends after N minutes.', default: 'never' },
    },
    examples: ['capabilities grant tool.call.echo', 'capabilities grant tool.call.echo --developer mira --expires-in-minutes 60'],
    action: 'capabilities.grant',
    input(invocation) {
      const scope = parseScope(invocation);
      const minutes = option(invocation, 'expires-in-minutes');
      if (minutes !== undefined && !/^[1-9]\d{0,6}$/.test(minutes))
        throw new UsageError('`--expires-in-minutes` must be a whole number from 1, for example --expires-in-minutes 60');
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
    summary: 'Show whether someone can call a tool, and which grant allows it.',
    arguments: [{ name: 'TOOL', description: 'The name of the tool.', field: 'name' }],
    options: SUBJECT,
    examples: ['capabilities explain echo', 'capabilities explain echo --developer mira'],
    action: 'capabilities.explain',
    kind: 'capability_explained',
    text({ answers, tool, more }, { out: { mark } }) {
      const lines = answers.map(({ name, label, answer: said, message, grant }) => {
        const sign = said === 'no' ? mark.bad : said === 'asks' || said === 'limited' ? mark.wait : mark.good;
        return `${sign} ${printableLine([name, label].filter(Boolean).join(', '))}: ${SAID[said]}${grant ? `, by ${grant.grant_id} (${scopeWords(grant)})` : ''}${message ? `. ${message}` : ''}`;
      });
      const missing = tool === null ? [`${mark.wait} No tool has this name now.`] : [];
      return [...lines, ...(more > 0 ? [`and ${more} more tokens`] : []), ...missing].join('\n');
    },
  }),
  {
    name: 'capabilities revoke',
    summary: 'Revoke a grant. Give its id, or its action and subject.',
    arguments: [{ name: 'ACTION|GRANT_ID', description: 'The action, such as tool.call.echo, or the id of a grant.' }],
    options: SUBJECT,
    examples: ['capabilities revoke tool.call.echo --developer mira', 'capabilities revoke grant_01JABCDEF'],
    async run(invocation) {
      const named = invocation.positionals[0] as string;
      const what = /^(tool|toolset|resource|prompt)\./.test(named) ? { action: named } : { grant_id: named };
      const { revoked } = await call(invocation, 'capabilities.revoke', { ...what, ...given(invocation, ...Object.keys(SUBJECT)) });
      return { json: { kind: 'capability_revoked', revoked }, text: `Revoked ${revoked.join(', ')}.` };
    },
  },
  {
    name: 'capabilities list',
    summary: 'List all grants with their status.',
    examples: ['capabilities list'],
    async run(invocation) {
      const items = await everyGrant(invocation);
      const rows = items.map((g) => [g.grant_id, g.subject_name, g.action, g.status, scopeWords(g)]);
      return { json: { kind: 'capability_list', items }, text: table(GRANTS, rows, invocation.out.columns) };
    },
  },
];

const GRANTS: TableShape = {
  head: ['GRANT', 'SUBJECT', 'ACTION', 'STATUS', 'SCOPE'],
  narrow: [
    ['SCOPE', 12],
    ['SUBJECT', 12],
    ['SCOPE', 0],
    ['ACTION', 16],
  ],
};

/** Reads all pages. The oldest grants come first in the result. */
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
    throw new UsageError('`--scope` must be valid JSON, for example --scope \'{"max_uses": 5}\'');
  }
}

function scopeWords({ scope, uses }: Pick<Grant, 'scope' | 'uses'>): string {
  const words = [];
  if (scope.max_uses !== undefined) words.push(`${uses} of ${scope.max_uses} uses`);
  if (scope.max_per_minute !== undefined) words.push(`${scope.max_per_minute} a minute`);
  if (scope.expires_at !== undefined) words.push(`until ${new Date(scope.expires_at).toISOString()}`);
  if (scope.arguments !== undefined) words.push('certain arguments only');
  if (scope.approve) words.push(scope.approve === 'client' ? 'each call approved by a person, or in its client' : 'each call approved by a person');
  return words.join(', ') || 'no limit';
}
