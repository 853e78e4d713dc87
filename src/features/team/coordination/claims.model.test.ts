import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ClaimRow } from '../../../storage/schema-rows.ts';
import { type TestCaller, testApp } from '../../../testing/app.ts';
import { patience, runs } from '../../../testing/runs.ts';
import { inRun } from '../../../testing/scope.ts';
import { conflict } from './conflicts.ts';
import type { ClaimMode } from './contract.ts';
import { claimedBy, liveClaimRows } from './store.ts';

const MINUTE = 60_000;
const REPO = 'app';
const PATHS = ['src/a.ts', 'src/*.ts', 'src/**', 'docs/a.md', '**/a.*'];
const AGENTS = [0, 1, 2] as const;

type Step =
  | { do: 'claim'; agent: number; path: string; mode: ClaimMode; ttl: number }
  | { do: 'release'; agent: number; which: number }
  | { do: 'beat'; agent: number }
  | { do: 'wait'; minutes: number };

const agent = fc.constantFrom(...AGENTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('claim'),
      agent,
      path: fc.constantFrom(...PATHS),
      mode: fc.constantFrom('exclusive', 'shared'),
      ttl: fc.constantFrom(5, 20),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release'), agent, which: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('beat'), agent }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), minutes: fc.integer({ min: 1, max: 12 }) }) },
) as fc.Arbitrary<Step>;

const key = (row: Pick<ClaimRow, 'actor' | 'session_id' | 'paths'>) => `${row.actor} ${row.session_id} ${row.paths}`;

/**
 * Two sessions of one agent and an agent of another developer claim a few patterns. The model has one rule: an agent has at most one live
 * claim per pattern, and each renewal moves the end of the claim.
 */
test(
  'no two live claims of different agents conflict, and a claim is refused only if it would conflict',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 30 }),
        inRun(async (steps) => {
          const { app, clock, developer, tool } = await testApp();
          const [ana, ben] = [await developer('ana', 'codex'), await developer('ben', 'codex')];
          const start = async (by: TestCaller) => ((await tool('covibe_session', { operation: 'start' }, by)).reply.data as { session_id: string }).session_id;
          const agents = [
            { by: ana, session_id: await start(ana) },
            { by: ana, session_id: await start(ana) },
            { by: ben, session_id: await start(ben) },
          ];
          const { workspace } = ana.principal;
          const live = () => liveClaimRows(app.store.reader, workspace, clock.now());
          const model = new Map<string, { until: number; ttl: number }>();
          for (const one of steps) {
            for (const [name, { until }] of model) if (until <= clock.now()) model.delete(name);
            if (one.do === 'wait') clock.advance(one.minutes * MINUTE);
            else {
              const { by, session_id } = agents[one.agent] as (typeof agents)[number];
              const owns = (row: ClaimRow) => row.session_id === session_id;
              const name = (path: string) => key({ actor: by.principal.actor, session_id, paths: JSON.stringify([path]) });
              const before = await live();
              if (one.do === 'claim') {
                const input = { operation: 'claim', repo: REPO, paths: [one.path], mode: one.mode, ttl_minutes: one.ttl, session_id };
                const { reply } = await tool('covibe_coordination', input, by);
                const wanted = { actor: by.principal.actor, sessionId: session_id, repo: REPO, paths: [one.path], symbols: [], mode: one.mode };
                const inTheWay = before.some((row) => conflict(wanted, claimedBy(row)));
                expect(reply.status).toBe(inTheWay ? 'blocked' : 'ok');
                if (!inTheWay) model.set(name(one.path), { until: clock.now() + one.ttl * MINUTE, ttl: one.ttl });
              } else if (one.do === 'release') {
                const row = before.filter(owns)[one.which];
                if (row) {
                  await tool('covibe_coordination', { operation: 'release', claim_id: row.id, session_id }, by);
                  model.delete(key(row));
                }
              } else {
                await tool('covibe_session', { operation: 'heartbeat', session_id }, by);
                for (const row of before.filter(owns)) {
                  const held = model.get(key(row));
                  if (held) held.until = Math.max(held.until, clock.now() + held.ttl * MINUTE);
                }
              }
            }
            const after = await live();
            const expected = [...model].filter(([, { until }]) => until > clock.now()).map(([name, { until }]) => `${name} ${until}`);
            expect(after.map((row) => `${key(row)} ${row.expires_at}`).sort()).toEqual(expected.sort());
            for (const [i, a] of after.entries()) for (const b of after.slice(i + 1)) expect(conflict(claimedBy(a), claimedBy(b))).toBe(false);
          }
          await app.close();
        }),
      ),
      runs(12),
    );
  },
  patience(120_000),
);

const mixed = fc.oneof({ weight: 4, arbitrary: step }, { weight: 1, arbitrary: fc.record({ do: fc.constant('hand' as const), agent, which: fc.nat(9) }) });

test(
  'no two live claims of different agents conflict, even if an agent omits its session or hands over claims',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(mixed, fc.boolean()), { minLength: 10, maxLength: 40 }),
        inRun(async (steps) => {
          const { app, clock, developer, tool } = await testApp();
          const [ana, ben] = [await developer('ana', 'codex'), await developer('ben', 'cursor')];
          const start = async (by: TestCaller) => ((await tool('covibe_session', { operation: 'start' }, by)).reply.data as { session_id: string }).session_id;
          const sessions = [await start(ana), await start(ana), await start(ben)];
          const live = () => liveClaimRows(app.store.reader, ana.principal.workspace, clock.now());
          for (const [one, named] of steps) {
            if (one.do === 'wait') clock.advance(one.minutes * MINUTE);
            else {
              const by = one.agent === 2 ? ben : ana;
              const session = named ? { session_id: sessions[one.agent] } : {};
              const own = (await live()).filter((row) => row.developer_id === by.principal.developerId);
              if (one.do === 'claim') {
                await tool('covibe_coordination', { operation: 'claim', repo: REPO, paths: [one.path], mode: one.mode, ttl_minutes: one.ttl, ...session }, by);
              } else if (one.do === 'beat') await tool('covibe_session', { operation: 'heartbeat', ...session }, by);
              else {
                const row = own[one.which];
                if (row && one.do === 'release') await tool('covibe_coordination', { operation: 'release', claim_id: row.id }, by);
                if (row && one.do === 'hand') {
                  const offer = { operation: 'handoff', to: by === ana ? 'ben' : 'ana', message: 'yours', claim_ids: [row.id] };
                  const { data } = (await tool('covibe_coordination', offer, by)).reply as { data: { handoff_id: string } };
                  await tool('covibe_coordination', { operation: 'accept_handoff', handoff_id: data.handoff_id }, by === ana ? ben : ana);
                }
              }
            }
            const after = await live();
            for (const [i, a] of after.entries()) for (const b of after.slice(i + 1)) expect(conflict(claimedBy(a), claimedBy(b))).toBe(false);
          }
          await app.close();
        }),
      ),
      runs(12),
    );
  },
  patience(120_000),
);
