import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRecord } from '../kernel/registry.ts';
import type { JsonSchema } from '../kernel/reply.ts';
import { readAnswer } from '../testing/fuzz/answers.ts';
import { type Campaign, campaign } from '../testing/fuzz/campaign.ts';
import { recipeFor } from '../testing/fuzz/recipes/index.ts';
import { openFuzzScene } from '../testing/fuzz/scene.ts';
import { valid } from '../testing/fuzz/schema.ts';
import { asSent, targetsOf } from '../testing/fuzz/targets.ts';
import { ENGINE } from '../testing/store/database.ts';

const PROVE = process.env.COVENANT_PROVE === '1';
/** The number of calls per engine. Both engines together make the required 100,000 calls. */
const CALLS = PROVE ? 50_000 : 2_000;
const SEED = Number(process.env.COVENANT_SEED ?? (PROVE ? Date.now() % 1_000_000 : 20_261_115));

/** The fields that a random call cannot use, because they need an external server or an unknown worktree. The value is the test that covers them. */
const SHOWN_ELSEWHERE = new Map([
  ['servers.approve tool', 'src/features/gateway/servers/catalogue.test.ts'],
  ['servers.reject tool', 'src/features/gateway/servers/servers.unit.test.ts'],
  ['servers.forget server', 'src/features/gateway/servers/servers.unit.test.ts'],
  ['instances.clear_orphans force', 'src/features/review/instances/orphans.unit.test.ts'],
  // The action is refused on PostgreSQL, which has its own backup tools.
  ...(ENGINE === 'postgres' ? [['server.backup path', 'this test on SQLite'] as const] : []),
]);
const CANNOT_SUCCEED = ENGINE === 'postgres' ? /^(servers\.forget|server\.backup) / : /^servers\.forget /;

test('answers random calls in the documented shape, journals them, changes only data that the caller may change, reads every accepted field, and writes only rows that an import accepts [transport.input.none-ignored]', {
  timeout: PROVE ? 3_600_000 : 240_000,
}, async () => {
  const open = process.getActiveResourcesInfo().length;
  const made = await campaign(CALLS, SEED);
  if (PROVE) console.log(table(made));
  expect(made.calls).toBeGreaterThanOrEqual(CALLS);
  expect(made.refused).toEqual([]);
  expect(made.never.filter((label) => !CANNOT_SUCCEED.test(label))).toEqual([]);
  expect(made.unread.filter((field) => !SHOWN_ELSEWHERE.has(field))).toEqual([]);
  // Timers and sockets must not stay open, because all scenes are closed.
  expect(process.getActiveResourcesInfo().length - open).toBeLessThan(30);
});

test('refuses and names an undocumented field in every tool and action [transport.input.none-ignored]', { timeout: 120_000 }, async () => {
  const scene = await openFuzzScene();
  for (const target of targetsOf(scene.app.registry)) {
    expect([target.label, silent(target.schema)]).toEqual([target.label, []]);
    const { by } = recipeFor(target);
    const { principal } = await scene.caller(by[0] as (typeof by)[number]);
    const [fields] = fc.sample(valid(target.schema), { numRuns: 1, seed: SEED });
    const request = { name: target.name, args: asSent(target, { zz_unknown: 1, ...(fields as object) }), principal, surface: 'api' as const };
    const { body } = await (target.noun === 'tool' ? scene.app.dispatch.tool(request) : scene.app.dispatch.action(request));
    const { told } = readAnswer(target, body, '');
    expect([target.label, told.code, told.message]).toEqual([
      target.label,
      expect.stringMatching(/^(INVALID_INPUT|SCHEMA_INVALID)$/),
      expect.stringContaining('zz_unknown: unknown field'),
    ]);
  }
});

/** The places where a schema neither allows nor forbids unknown fields. Such fields would be dropped silently. */
function silent(schema: unknown, at = ''): string[] {
  if (Array.isArray(schema)) return schema.flatMap((inner) => silent(inner, at));
  if (!isRecord(schema)) return [];
  const here = isRecord(schema.properties) && schema.additionalProperties === undefined ? [at] : [];
  const inner = Object.entries(schema as JsonSchema).flatMap(([key, value]) => silent(value, `${at}.${key}`));
  return [...here, ...inner];
}

function table({ calls, tallies }: Campaign): string {
  const lines = [...tallies].map(
    ([label, { calls: made, ok }]) => `${label.padEnd(44)}${String(made).padStart(6)}${`${Math.round((100 * ok) / made)} %`.padStart(7)}`,
  );
  return [`seed ${SEED}, ${calls} calls; of each, those that succeeded:`, ...lines].join('\n');
}
