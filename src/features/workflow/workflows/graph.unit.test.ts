import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../../../kernel/reply.ts';
import { checkPlan, findCycle, type Node } from './graph.ts';

function refusal(tasks: Node[]): Refusal {
  try {
    checkPlan(tasks);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('not refused');
}

test('a repeated dependency counts once', () => {
  expect(checkPlan([{ name: 'a' }, { name: 'b', depends_on: ['a', 'a'] }]).get('b')).toEqual(['a']);
});

test('each defect has its own code, and the message names the faulty task', () => {
  expect(refusal([{ name: 'a' }, { name: 'b' }, { name: 'a' }])).toMatchObject({
    code: 'DUPLICATE_TASK_NAME',
    message: expect.stringContaining('"a"'),
    details: { field: 'plan.tasks[2].name' },
  });
  expect(refusal([{ name: 'a', depends_on: ['a'] }])).toMatchObject({ code: 'SELF_DEPENDENCY', message: expect.stringContaining('"a"') });
  expect(refusal([{ name: 'a', depends_on: ['ghost'] }])).toMatchObject({
    code: 'UNKNOWN_DEPENDENCY',
    message: expect.stringContaining('"ghost"'),
    details: { field: 'plan.tasks[0].depends_on' },
  });
});

test('the refusal names the whole cycle in order, from a task along its dependencies back to itself', () => {
  const tasks = [
    { name: 'start', depends_on: ['a'] },
    { name: 'a', depends_on: ['done', 'b'] },
    { name: 'b', depends_on: ['c'] },
    { name: 'c', depends_on: ['a'] },
    { name: 'done' },
  ];
  expect(refusal(tasks)).toMatchObject({
    code: 'DEPENDENCY_CYCLE',
    message: expect.stringContaining('a → b → c → a'),
    details: { cycle: ['a', 'b', 'c', 'a'] },
  });
});

test('a chain of 100,000 tasks is accepted, and a cycle through 100,000 tasks is found', () => {
  const length = 100_000;
  const chain = new Map(Array.from({ length }, (_, index) => [`t${index}`, index + 1 < length ? [`t${index + 1}`] : []]));
  expect(findCycle(chain)).toBeUndefined();
  chain.set(`t${length - 1}`, ['t0']);
  expect(findCycle(chain)).toHaveLength(length + 1);
});

test('a cycle is found if topological sorting fails, and only then', () => {
  const graph = fc.array(fc.uniqueArray(fc.nat(7), { maxLength: 4 }), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(graph, (all) => {
      const dependencies = new Map(all.map((to, from) => [String(from), to.filter((one) => one !== from).map(String)]));
      const left = new Map(dependencies);
      for (let before = -1; before !== left.size; ) {
        before = left.size;
        for (const [name, to] of left) if (!to.some((one) => left.has(one))) left.delete(name);
      }
      const cycle = findCycle(dependencies);
      expect(cycle !== undefined).toBe(left.size > 0);
      if (!cycle) return;
      expect(cycle.at(-1)).toBe(cycle[0]);
      expect(new Set(cycle).size).toBe(cycle.length - 1);
      for (const [index, name] of cycle.slice(0, -1).entries()) expect(dependencies.get(name)).toContain(cycle[index + 1]);
    }),
  );
});
