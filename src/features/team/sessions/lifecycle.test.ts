import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testApp } from '../../../testing/app.ts';
import { runs } from '../../../testing/runs.ts';
import { type SessionView, STALE_AFTER_MS } from './contract.ts';

type Step = { do: 'start' | 'pass'; by: number; minutes: number } | { do: 'heartbeat' | 'activity' | 'end'; by: number; which: number };

const by = fc.integer({ min: 0, max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('start', 'pass'), by, minutes: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ do: fc.constantFrom('heartbeat', 'activity', 'end'), by, which: fc.nat({ max: 5 }) }),
);

/** The model of a session: its owner, when it was last seen, and when it ended. */
interface Model {
  id: string;
  owner: number;
  seen: number;
  ended: number | null;
}

test('after any sequence of calls, a session is visible only to its owner, ends once, and is stale after exactly 30 silent minutes', async () => {
  const { app, clock, developer, done, events, tool } = await testApp();
  const callers = [await developer('ana'), await developer('ben')] as const;
  const models: Model[] = [];
  let ends = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      for (const taken of steps) {
        const caller = callers[taken.by] ?? callers[0];
        if (taken.do === 'pass') clock.advance(taken.minutes * 60_000);
        else if (taken.do === 'start') {
          const { reply } = await tool('covibe_session', { operation: 'start' }, caller);
          models.push({ id: (reply.data as { session_id: string }).session_id, owner: taken.by, seen: clock.now(), ended: null });
        } else if ('which' in taken) {
          const model = models.at(-1 - taken.which);
          if (!model) continue;
          const text = taken.do === 'activity' ? { text: 'at work' } : {};
          const { reply } = await tool('covibe_session', { operation: taken.do, session_id: model.id, ...text }, caller);
          if (model.owner !== taken.by) expect(reply).toMatchObject({ code: 'SESSION_NOT_FOUND' });
          else if (model.ended !== null) expect(reply).toMatchObject({ code: taken.do === 'end' ? 'SESSION_ALREADY_ENDED' : 'SESSION_ENDED' });
          else {
            expect(reply.status).toBe('ok');
            model.seen = clock.now();
            if (taken.do === 'end') {
              model.ended = clock.now();
              ends++;
            }
          }
        }
      }
      const { items } = (await done('sessions.list', { limit: 200 })) as { items: SessionView[] };
      const shown = new Map(items.map((item) => [item.session_id, item]));
      for (const model of models.slice(-50)) {
        const state = model.ended !== null ? 'ended' : clock.now() - model.seen > STALE_AFTER_MS ? 'stale' : 'active';
        expect(shown.get(model.id)).toMatchObject({ state, last_seen_at: model.seen, ended_at: model.ended, developer: ['ana', 'ben'][model.owner] });
      }
    }),
    runs(15),
  );
  expect(await events({ kind: 'session.ended' })).toHaveLength(ends);
  expect(await app.store.reader.selectFrom('agent_sessions').selectAll().execute()).toHaveLength(models.length);
});

test('a start uses the repository and branch that the client reports if it names none, but the branch only for the same repository', async () => {
  const { app, developer, events } = await testApp();
  const { principal } = await developer('ana');
  const place = { folder: '/home/ana/app', repo: 'github.com/acme/app', branch: 'fix' };
  for (const where of [{}, { repo: 'https://github.com/acme/app.git' }, { repo: 'github.com/acme/other' }, { repo: 'github.com/acme/other', branch: 'main' }]) {
    await app.dispatch.tool({ name: 'covibe_session', args: { operation: 'start', ...where }, principal, surface: 'mcp', place });
  }
  expect((await events({ kind: 'session.started' })).map(({ payload }) => payload.branch)).toEqual(['fix', 'fix', null, 'main']);
});
