import { expect, onTestFinished, test } from 'vitest';
import { passThrough, REVISIONS, type Revision, requiredScenarios, runSuite } from '../../testing/stand-ins/conformance.ts';
import { serveFixture } from '../../testing/stand-ins/conformance-server.ts';
import { fixtureGateway, type Way } from '../../testing/stand-ins/gateway.ts';

const TIME = 120_000;

/** The scenarios that the suite does not require, but that these tests check as well. */
const ALSO = {
  '2026-07-28': ['json-schema-2020-12', 'http-header-validation'],
  '2025-11-25': ['server-session-lifecycle', 'server-sse-polling', 'json-schema-2020-12'],
} as const satisfies Record<Revision, string[]>;

/** The scenarios that failed, with the output of the suite. */
async function missing(url: string, revision: Revision): Promise<string[]> {
  const { passed, output } = await runSuite(url, revision);
  const failed = [...requiredScenarios(revision), ...ALSO[revision]].filter((name) => !passed.includes(name));
  return failed.length > 0 ? [...failed, output] : [];
}

async function missingBehind(way: Way, revision: Revision): Promise<string[]> {
  const { url, ana } = await fixtureGateway(way);
  return await missing(await passThrough(url, ana.token), revision);
}

test('runs the official suite with its known number of required scenarios', () => {
  expect(REVISIONS.map((revision) => requiredScenarios(revision).length)).toEqual([37, 30]);
});

test(
  'the fixture server alone passes every required scenario, at both revisions',
  async () => {
    const fixture = await serveFixture();
    onTestFinished(() => fixture.close());
    for (const revision of REVISIONS) expect(await missing(fixture.url, revision)).toEqual([]);
  },
  TIME,
);

test.each<Way>(['HTTP in both eras', 'stdio in the newer era'])(
  'the fixture server behind the gateway passes every required scenario over %s, at both revisions',
  async (way) => {
    expect(await Promise.all(REVISIONS.map((revision) => missingBehind(way, revision)))).toEqual([[], []]);
  },
  TIME,
);

/**
 * These transports are tested only at the older revision. At the newer revision, the suite expects keys and state that a server of the older era cannot send.
 */
test.each<Way>(['HTTP in the older era alone', 'stdio in the older era'])(
  'the fixture server behind the gateway passes every required scenario of 2025-11-25 over %s',
  async (way) => {
    expect(await missingBehind(way, '2025-11-25')).toEqual([]);
  },
  TIME,
);
