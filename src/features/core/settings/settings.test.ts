import { expect, test } from 'vitest';
import { testApp } from '../../../testing/app.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';
import { failsClosed } from './index.ts';

test('the review settings have defaults and are stored unencrypted; only the operator can change them within their limits or reset them [config.review.settings]', async () => {
  const t = await testApp();
  const ana = await t.developer('ana');
  const ofReviews = (items: unknown) => (items as Body[]).filter(({ key }) => String(key).startsWith('review.'));
  const list = async () => ofReviews((await t.done('settings.list', {})).items);
  expect((await list()).map(({ key, value, default: usual, is_default }) => [key, value, usual, is_default])).toEqual([
    ['review.max_iterations', 3, 3, true],
    ['review.auto_abandon_after', 5, 5, true],
    ['review.timeout_hours', 24, 24, true],
  ]);
  const set = (key: string, value: unknown, caller = t.operator) => t.action('settings.set', { key, value }, caller);
  for (const [key, value, field] of [
    ['review.max_iterations', 0, 'value'],
    ['review.max_iterations', 2.5, 'value'],
    ['review.max_iterations', '4', 'value'],
    ['review.auto_abandon_after', 1_001, 'value'],
    ['review.timeout_hours', 0, 'value'],
    ['review.timeout_hours', undefined, 'value'],
    ['review.max_iterations', 'on', 'value'],
    ['review.other', 1, 'key'],
  ] as const) {
    expect((await set(key, value)).body).toMatchObject({ code: 'INVALID_INPUT', field });
  }
  expect((await set('review.max_iterations', 4, ana)).isError).toBe(true);
  expect((await list()).every(({ is_default }) => is_default)).toBe(true);

  expect((await set('review.timeout_hours', 0.5)).body).toMatchObject({
    value: 0.5,
    default: 24,
    is_default: false,
    updated_at: t.clock.now(),
    updated_by: 'operator',
  });
  await set('review.timeout_hours', 48);
  await set('review.max_iterations', 7);
  expect(await t.app.store.reader.selectFrom('settings').select(['key', 'value']).orderBy('key').execute()).toEqual([
    { key: 'review.max_iterations', value: '7' },
    { key: 'review.timeout_hours', value: '48' },
  ]);
  expect((await set('review.timeout_hours', null)).body).toMatchObject({ value: 24, is_default: true, updated_at: null, updated_by: null });
  expect((await list()).map(({ value }) => value)).toEqual([7, 5, 24]);
  expect((await t.events({ kind: 'setting.changed' })).map(({ subject, payload }) => [subject, (payload as Body).before, (payload as Body).after])).toEqual([
    ['review.timeout_hours', 24, 0.5],
    ['review.timeout_hours', 0.5, 48],
    ['review.max_iterations', 3, 7],
    ['review.timeout_hours', 48, 24],
  ]);

  // Each workspace has its own values. The dashboard changes them with the same action.
  const far = await t.developer('far', undefined, 'ws_far');
  const farList = await t.app.dispatch.action({ name: 'settings.list', args: {}, principal: { ...far.principal, web: true }, surface: 'dashboard' });
  expect(ofReviews(farList.body.items).map(({ value }) => value)).toEqual([3, 5, 24]);
});

test('hooks.fail_closed is a switch: it describes on and off, accepts on, off, 1 and 0, is reset by null, and refuses other values', async () => {
  const t = await testApp();
  const set = async (value: unknown) => (await t.action('settings.set', { key: 'hooks.fail_closed', value }, t.operator)).body;
  const closed = async () => await failsClosed(t.app.store.reader, t.operator.principal.workspace);
  const shown = ((await t.done('settings.list', {})).items as Body[]).find(({ key }) => key === 'hooks.fail_closed');
  expect(shown).toMatchObject({ value: 0, default: 0, switch: { on: expect.stringContaining('block'), off: expect.stringContaining('continue') } });
  expect(((await t.done('settings.list', {})).items as Body[]).filter((setting) => setting.switch !== null)).toHaveLength(1);
  for (const [value, then] of [
    ['on', true],
    ['off', false],
    [1, true],
    [0, false],
    ['on', true],
    [null, false],
  ] as const) {
    expect(await set(value)).toMatchObject({ key: 'hooks.fail_closed', value: then ? 1 : 0, is_default: value === null });
    expect([value, await closed()]).toEqual([value, then]);
  }
  await set('on');
  for (const value of [2, 0.5, -1, 'yes', '1', true]) expect(await set(value)).toMatchObject({ code: 'INVALID_INPUT', field: 'value' });
  expect(await closed()).toBe(true);
});

test('the listed role of each action is enforced: callers without it are refused', async () => {
  const t = await testApp();
  const mira = await t.developer('mira');
  const li = await t.developer('li');
  const web = (caller: typeof mira, operator: boolean) => ({ ...caller, principal: { ...caller.principal, web: true, operator } });
  const { actions, toolsets } = (await t.done('roles.list', {})) as { actions: Body[]; toolsets: Body[] };
  expect(actions.map(({ name }) => name)).toEqual(t.app.registry.actions().map(({ name }) => name));
  const refuses = async (name: string, caller: typeof mira) =>
    ['OPERATOR_REQUIRED', 'MACHINE_PERMISSION_REQUIRED', 'TOKEN_REQUIRED'].includes(String((await t.action(name, { no_such_field: 1 }, caller)).body.code));
  for (const { name, access } of actions) {
    const held = [await refuses(name, li), await refuses(name, web(li, false)), await refuses(name, web(mira, true)), await refuses(name, t.operator)];
    // Agent hooks need the token of a developer, which neither browsers nor the operator have.
    const expected = access === 'token' ? [false, true, true, true] : [true, access !== 'member', access === 'server' || access === 'machine', false];
    expect([name, ...held]).toEqual([name, ...expected]);
  }
  expect(toolsets.find(({ toolset }) => toolset === 'team')).toMatchObject({ granted_to: ['developer', 'agent', 'instance'] });
  expect(toolsets.find(({ toolset }) => toolset === 'gateway')).toMatchObject({ granted_to: [] });
});

test('each feature declares what it stores, and the list contains each entry once', async () => {
  const t = await testApp();
  const { items } = (await t.done('retention.list', {})) as { items: { what: string; ms: number | null }[] };
  expect(items).toEqual(
    expect.arrayContaining([
      { what: 'Checks before a start', ms: 7 * 86_400_000 },
      { what: 'Unused sign-in links', ms: 600_000 },
    ]),
  );
  expect(items.find(({ what }) => what.startsWith('The journal'))?.ms).toBeNull();
  expect(new Set(items.map(({ what }) => what)).size).toBe(items.length);
});
