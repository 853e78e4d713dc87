import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { brokerFile, brokerRepository, cycleApp, readBroker } from '../../testing/scenes/cycle.ts';

const CONFIG = {
  version: '0.1',
  mode: 'autonomous',
  agents: { planner: { psk: 'PLANNER_SECRET' }, builder: { psk: 'BUILDER_SECRET' }, reviewer: { psk: 'REVIEWER_SECRET' } },
  roles: ['planner', 'builder', 'reviewer'],
  phases: { plan: 'planner', build: { role: 'builder' }, review: 'reviewer', released: 'planner' },
  transitions: [
    { from: 'plan', target: 'builder', to: 'build' },
    { from: 'build', target: 'reviewer', to: 'review' },
    { from: 'build', target: 'planner', to: 'plan' },
    { from: 'review', target: 'builder', to: 'build' },
    { from: 'review', to: 'released' },
  ],
  final: 'released',
};
type Role = keyof typeof CONFIG.agents;

test('three roles with custom phases complete a cycle with rework, and the files of its archive are named after them [cycle.machine.as-data]', async () => {
  const app = await cycleApp({ repository: brokerRepository(CONFIG) });
  const sessions = {} as Record<Role, string>;
  for (const role of ['planner', 'builder', 'reviewer'] as const)
    sessions[role] = (await app.ok('session.open', { role, psk: CONFIG.agents[role].psk })).session_token;
  expect((await app.refused('session.open', { role: 'gemini', psk: 'x' })).details.roles).toEqual(['planner', 'builder', 'reviewer']);
  const empty = { status: 'empty', updated_at: null };
  expect(await app.ok('cycle.status')).toMatchObject({ mode: 'autonomous', handoffs: { planner: empty, builder: empty, reviewer: empty } });

  const started = await app.ok('cycle.start', { feature: 'search' });
  expect(started).toMatchObject({ phase: 'plan', active_role: 'planner' });
  const hold = async (role: Role) => ({
    session_token: sessions[role],
    lock_token: (await app.ok('lock.acquire', { session_token: sessions[role] })).lock_token,
  });
  const write = async (producer: Role, target: Role, note: string) => {
    const payload = await app.payload('codex', { producer, consumer: target, notes: [note] });
    return { target, payload, ...(await hold(producer)) };
  };
  const tokens = [started.lock_token];
  const handOver = async (producer: Role, target: Role, note: string) => {
    const call = await write(producer, target, note);
    tokens.push(call.lock_token);
    return await app.ok('handoff.write', call);
  };
  expect(await app.refused('handoff.write', await write('planner', 'reviewer', 'too far'))).toMatchObject({
    code: 'INVALID_PHASE',
    details: { next: 'In this phase planner can call handoff.write with `target` builder.' },
  });
  expect((await app.refused('handoff.write', { ...(await write('planner', 'builder', 'x')), target: 'codex' })).code).toBe('INVALID_TARGET');
  expect(await handOver('planner', 'builder', 'first plan')).toEqual({
    ok: true,
    phase: 'build',
    active_role: 'builder',
    next_step: 'Provide lock_token to builder',
  });
  expect(await handOver('builder', 'planner', 'it cannot be built')).toMatchObject({ phase: 'plan', active_role: 'planner' });
  await handOver('planner', 'builder', 'second plan');
  expect(await handOver('builder', 'reviewer', 'built')).toMatchObject({ phase: 'review', active_role: 'reviewer' });
  expect(await handOver('reviewer', 'builder', 'once more')).toMatchObject({ phase: 'build', active_role: 'builder' });
  expect((await app.refused('cycle.complete', await hold('builder'))).code).toBe('INVALID_PHASE');
  await handOver('builder', 'reviewer', 'better');
  expect(readdirSync(brokerFile(app.repository, 'handoff')).sort()).toEqual(['builder.json', 'planner.json', 'reviewer.json']);
  expect(readBroker(app.repository, 'state.json')).toMatchObject({
    phase: 'review',
    handoff_status: { planner: 'present', builder: 'present', reviewer: 'present' },
  });
  expect((await app.ok('handoff.read', { target: 'builder' })).notes).toEqual(['once more']);

  const review = await hold('reviewer');
  expect(await app.ok('cycle.complete', review)).toEqual({ ok: true, phase: 'released', active_role: 'planner' });
  // The final phase belongs to another role here, so the lock has passed to it.
  expect((await app.refused('cycle.archive', review)).details).toMatchObject({ activeRole: 'planner', requestedRole: 'reviewer' });
  const last = await hold('planner');
  tokens.push(review.lock_token, last.lock_token);
  const { cycle_id } = await app.ok('cycle.archive', last);
  expect(readdirSync(brokerFile(app.repository, `archive/${cycle_id}`)).sort()).toEqual(
    ['config.json', 'handoff.builder.json', 'handoff.planner.json', 'handoff.reviewer.json', 'lock.json', 'manifest.json', 'state.json'].sort(),
  );
  expect(readBroker(app.repository, `archive/${cycle_id}/config.json`)).toEqual({
    ...CONFIG,
    agents: { planner: { psk: '[redacted]' }, builder: { psk: '[redacted]' }, reviewer: { psk: '[redacted]' } },
  });
  expect(readdirSync(brokerFile(app.repository, 'handoff'))).toEqual([]);
  // Every turn has a new token. The first acquired token equals the one from cycle.start.
  expect(new Set(tokens).size).toBe(tokens.length - 1);
  expect(await app.done('cycles.list', {})).toMatchObject({ items: [{ reworks: 2, status: 'archived' }] });
});
