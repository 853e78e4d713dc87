import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import { recentAfter, waitForRate } from './gate.ts';

const grantOf = (rate: number, recent: string | null = null): GrantRow => ({
  workspace_id: 'ws_default',
  id: 'grant_1',
  subject: 'operator',
  action: 'tool.call.echo',
  scope: JSON.stringify({ max_per_minute: rate }),
  max_uses: null,
  uses: 0,
  expires_at: null,
  recent,
  revision: 1,
  granted_by: 'operator',
  created_at: 0,
  revoked_at: null,
  revoked_by: null,
});

/** Reference model: all accepted calls, checked in full each time. */
function naive(rate: number) {
  const passed: number[] = [];
  const fits = (at: number) => passed.filter((time) => time > at - 60_000).length < rate;
  return {
    passed,
    fits,
    /** The first time from `now` on at which a call fits. */
    wait: (now: number) => Math.min(...[now, ...passed.map((time) => time + 60_000)].filter((at) => at >= now && fits(at))) - now,
  };
}

test('`max_per_minute` accepts exactly that many calls in any 60 seconds and returns how long the next call must wait', () => {
  const step = fc.oneof(fc.integer({ min: 0, max: 70_000 }), fc.constantFrom(0, 1, 59_999, 60_000, 60_001));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 60 }), (rate, steps) => {
      const model = naive(rate);
      let recent: string | null = null;
      let now = 1_000_000;
      for (const ms of steps) {
        now += ms;
        const wait = waitForRate(grantOf(rate, recent), now);
        expect(wait).toBe(model.wait(now));
        expect(wait === 0).toBe(model.fits(now));
        if (wait > 0) continue;
        model.passed.push(now);
        recent = recentAfter(grantOf(rate, recent), now);
        expect(JSON.parse(recent as string).length).toBeLessThanOrEqual(rate);
      }
      for (const start of model.passed) expect(model.passed.filter((time) => time >= start && time < start + 60_000).length).toBeLessThanOrEqual(rate);
    }),
  );
});

test('servers with different clocks count together, and setting a clock back allows no further call', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.integer({ min: -30_000, max: 30_000 }), { maxLength: 60 }), (rate, skews) => {
      const model = naive(rate);
      let recent: string | null = null;
      for (const [index, skew] of skews.entries()) {
        const now = 1_000_000 + index * 5_000 + skew;
        const wait = waitForRate(grantOf(rate, recent), now);
        expect(wait).toBe(model.wait(now));
        if (wait > 0) continue;
        model.passed.push(now);
        recent = recentAfter(grantOf(rate, recent), now);
      }
    }),
  );
});

test('a grant without a rate stores no times', () => {
  const grant = { ...grantOf(1), scope: '{}' };
  expect([waitForRate(grant, 5), recentAfter(grant, 5)]).toEqual([0, null]);
});
