import { expect, test } from 'vitest';
import { type Action, componentsDiffer, opposed } from './divergence.ts';

const ACTIONS: readonly Action[] = ['create', 'modify', 'remove', 'fix', 'audit'];

test('remove is opposed to create, modify and fix, in both directions; audit is opposed to nothing', () => {
  const pairs = ACTIONS.flatMap((one) => ACTIONS.filter((other) => opposed(one, other)).map((other) => `${one}-${other}`));
  expect(pairs.sort()).toEqual(['create-remove', 'fix-remove', 'modify-remove', 'remove-create', 'remove-fix', 'remove-modify']);
});

test('undeclared fields never diverge', () => {
  expect(opposed(undefined, 'remove')).toBe(false);
  expect(opposed('create', null)).toBe(false);
  expect(componentsDiffer(undefined, 'server')).toBe(false);
  expect(componentsDiffer('  ', 'server')).toBe(false);
});

test('two names of the same layer are the same component; names of different layers differ', () => {
  expect(componentsDiffer('server', 'Backend')).toBe(false);
  expect(componentsDiffer('server', 'ui')).toBe(true);
  expect(componentsDiffer('db', 'Front End')).toBe(true);
});

test('a name of no known layer differs from every other name, unless one name is part of the other', () => {
  expect(componentsDiffer('billing', 'search')).toBe(true);
  expect(componentsDiffer('billing', 'billing-worker')).toBe(false);
  expect(componentsDiffer('billing', 'server')).toBe(true);
  expect(componentsDiffer('ui', 'build')).toBe(true);
});
