import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../testing/runs.ts';
import {
  afterCompletion,
  afterHandoff,
  type CycleMachine,
  faultsOf,
  firstPhase,
  GEMINI_AND_CODEX,
  leadsBack,
  producersFor,
  type Transition,
} from './machine.ts';

describe('the machine of gemini and codex', () => {
  const LEADS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    frontend: { codex: 'backend' },
    backend: { gemini: 'frontend_refine' },
    frontend_refine: { codex: 'backend' },
    complete: {},
  };
  const cases = GEMINI_AND_CODEX.phases.flatMap(({ name }) => ['codex', 'gemini', 'somebody'].map((target) => [name, target] as const));

  test.each(cases)('in %s, a handoff to %s leads to the phase in the table, or is refused [cycle.machine.others-refused]', (phase, target) => {
    expect(afterHandoff(GEMINI_AND_CODEX, phase, target)?.name).toBe(LEADS[phase]?.[target]);
  });

  test('starts with gemini in frontend, and is valid', () => {
    expect(firstPhase(GEMINI_AND_CODEX)).toEqual({ name: 'frontend', role: 'gemini' });
    expect(GEMINI_AND_CODEX.phases.map(({ role }) => role)).toEqual(['gemini', 'codex', 'gemini', 'gemini']);
    expect(faultsOf(GEMINI_AND_CODEX)).toEqual([]);
  });

  test('is completed only from frontend_refine, and never by a handoff [cycle.machine.explicit-end]', () => {
    expect(GEMINI_AND_CODEX.phases.map(({ name }) => afterCompletion(GEMINI_AND_CODEX, name)?.name)).toEqual([undefined, undefined, 'complete', undefined]);
    for (const [phase, target] of cases) expect(afterHandoff(GEMINI_AND_CODEX, phase, target)?.name).not.toBe('complete');
  });

  test('has exactly one role that hands over to each target, and counts a return to an earlier phase as rework', () => {
    expect([...producersFor(GEMINI_AND_CODEX, 'codex')]).toEqual(['gemini']);
    expect([...producersFor(GEMINI_AND_CODEX, 'gemini')]).toEqual(['codex']);
    expect([...producersFor(GEMINI_AND_CODEX, 'somebody')]).toEqual([]);
    expect(leadsBack(GEMINI_AND_CODEX, 'frontend_refine', 'backend')).toBe(true);
    expect(leadsBack(GEMINI_AND_CODEX, 'backend', 'frontend_refine')).toBe(false);
  });
});

const SOUND: CycleMachine = {
  roles: ['planner', 'builder', 'reviewer'],
  phases: [
    { name: 'plan', role: 'planner' },
    { name: 'build', role: 'builder' },
    { name: 'review', role: 'reviewer' },
    { name: 'done', role: 'reviewer' },
  ],
  transitions: [
    { from: 'plan', target: 'builder', to: 'build' },
    { from: 'build', target: 'reviewer', to: 'review' },
    { from: 'review', target: 'builder', to: 'build' },
    { from: 'review', to: 'done' },
  ],
  final: 'done',
};
const more = (...transitions: Transition[]): CycleMachine => ({ ...SOUND, transitions: [...SOUND.transitions, ...transitions] });
const without = (from: string, to: string): CycleMachine => ({ ...SOUND, transitions: SOUND.transitions.filter((way) => way.from !== from || way.to !== to) });
const phase = (name: string, role: string): CycleMachine => ({ ...SOUND, phases: [...SOUND.phases, { name, role }] });

test('a machine of three roles is valid and follows its own table [cycle.machine.as-data]', () => {
  expect(faultsOf(SOUND)).toEqual([]);
  expect(afterHandoff(SOUND, 'review', 'builder')).toEqual({ name: 'build', role: 'builder' });
  expect(afterHandoff(SOUND, 'plan', 'reviewer')).toBeUndefined();
  expect([...producersFor(SOUND, 'builder')]).toEqual(['planner', 'reviewer']);
  expect(afterCompletion(SOUND, 'review')?.name).toBe('done');
});

const FAULTS: [what: string, machine: CycleMachine, ...faults: string[]][] = [
  ['an unreachable phase', phase('test', 'builder'), 'the phase test cannot be reached'],
  ['an unreachable final phase', without('review', 'done'), 'the final phase done cannot be reached'],
  [
    'a phase that is a dead end',
    {
      ...phase('stuck', 'planner'),
      transitions: [...SOUND.transitions, { from: 'review', target: 'planner', to: 'stuck' }],
    },
    'the phase stuck is a dead end: done cannot be reached from it',
  ],
  ['a phase of an unknown role', phase('test', 'tester'), 'the phase test has the unknown role tester'],
  ['no final phase', { ...SOUND, final: 'over' }, 'the final phase over does not exist'],
  ['no phase at all', { ...SOUND, phases: [], transitions: [] }, 'the final phase done does not exist'],
  ['a duplicate role', { ...SOUND, roles: [...SOUND.roles, 'Builder'] }, 'the role builder occurs twice'],
  ['a duplicate phase', phase('plan', 'planner'), 'the phase plan occurs twice'],
  ['a transition from an unknown phase', more({ from: 'dream', target: 'builder', to: 'build' }), 'a transition refers to the unknown phase dream'],
  ['a transition to an unknown phase', more({ from: 'build', target: 'planner', to: 'dream' }), 'a transition refers to the unknown phase dream'],
  ['an unknown target role', more({ from: 'build', target: 'tester', to: 'review' }), 'a transition has the unknown target tester'],
  ['a transition out of the final phase', more({ from: 'done', target: 'planner', to: 'plan' }), 'a transition leads out of the final phase done'],
  [
    'a handoff to the final phase',
    more({ from: 'build', target: 'reviewer', to: 'done' }),
    'a handoff to reviewer leads to the final phase done, but only cycle.complete may',
  ],
  ['a transition without a target to a phase that is not final', more({ from: 'plan', to: 'build' }), 'the transition from plan to build has no target'],
  ['a handoff to a role that is not active afterwards', more({ from: 'build', target: 'planner', to: 'review' }), 'whose role is reviewer'],
  ['two transitions for one handoff', more({ from: 'review', target: 'builder', to: 'build' }), 'two transitions of review builder'],
  ['two transitions for completion', more({ from: 'review', to: 'done' }), 'two transitions of review (complete)'],
  [
    'several at once',
    { ...phase('test', 'tester'), final: 'over', transitions: [{ from: 'dream', target: 'builder', to: 'build' }] },
    'the phase test has the unknown role tester',
    'the final phase over does not exist',
    'a transition refers to the unknown phase dream',
  ],
];

test.each(FAULTS)('%s is reported as a fault that names the faulty part [cycle.machine.checked-at-load]', (_, machine, ...faults) => {
  const found = faultsOf(machine).join('; ');
  for (const fault of faults) expect(found).toContain(fault);
});

const NAMES = ['a', 'b', 'c', 'd'];
const some = fc.constantFrom(...NAMES);
const machines: fc.Arbitrary<CycleMachine> = fc
  .record({
    roles: fc.constant(['x', 'y']),
    phases: fc.subarray(NAMES, { minLength: 1 }).chain((names) => fc.tuple(...names.map((name) => fc.constantFrom('x', 'y').map((role) => ({ name, role }))))),
    transitions: fc.array(fc.record({ from: some, to: some, target: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }) }), { maxLength: 6 }),
    final: some,
  })
  .map((made) => {
    // The target is derived from the role. About half of the generated machines are then valid, so that the property is tested often enough.
    const turn = new Map(made.phases.map(({ name, role }) => [name, role]));
    const target = (to: string) => (to === made.final ? undefined : turn.get(to));
    const transitions = made.transitions.filter(({ from }) => from !== made.final && turn.has(from)).filter(({ to }) => turn.has(to));
    return { ...made, transitions: transitions.map((way) => (way.target === 'x' ? way : { ...way, target: target(way.to) })) };
  });

test('in every valid machine each phase can be reached and can reach the end, and nothing leaves the final phase', () => {
  let sound = 0;
  fc.assert(
    fc.property(machines, (machine) => {
      if (faultsOf(machine).length > 0) return;
      sound++;
      const onward = (name: string) =>
        [...machine.roles.map((target) => afterHandoff(machine, name, target)), afterCompletion(machine, name)].flatMap((to) => (to ? [to.name] : []));
      const reachedFrom = (start: string) => {
        const seen = new Set([start]);
        for (const name of seen) for (const to of onward(name)) seen.add(to);
        return seen;
      };
      expect([...reachedFrom(firstPhase(machine).name)].sort()).toEqual(machine.phases.map(({ name }) => name).sort());
      for (const { name } of machine.phases) expect(reachedFrom(name)).toContain(machine.final);
      expect(onward(machine.final)).toEqual([]);
      // After a handoff, its target is the active role.
      for (const { name } of machine.phases) for (const target of machine.roles) expect(afterHandoff(machine, name, target)?.role ?? target).toBe(target);
    }),
    runs(2_000),
  );
  expect(sound).toBeGreaterThan(100);
});
