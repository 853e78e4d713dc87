import { expect, test } from 'vitest';
import { unmetChain } from './task-graph.ts';

test('the root blocker of a task is the last task of its longest chain of unmet dependencies, even if the chain is long', () => {
  const waits = new Map([
    ['deploy', ['docs', 'test']],
    ['test', ['build']],
  ]);
  expect(unmetChain('deploy', waits)).toEqual(['test', 'build']);
  expect(unmetChain('docs', waits)).toEqual([]);
  const long = new Map(Array.from({ length: 9_999 }, (_, at): [string, string[]] => [`t${at}`, [`t${at + 1}`]]));
  expect(unmetChain('t0', long).at(-1)).toBe('t9999');
});
