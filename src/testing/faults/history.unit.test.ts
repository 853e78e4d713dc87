import { expect, test } from 'vitest';
import { type Call, effectProblems, type Fate } from './history.ts';

const call = (fate: Fate, ...effects: string[]): Call => ({ tool: 't', fate, code: undefined, effects });
const found = (...effects: string[]) => new Map([...Map.groupBy(effects, (effect) => effect)].map(([effect, times]) => [effect, times.length]));

test('accepts a history in which acknowledged effects exist once and all others at most once', () => {
  const calls = [call('acknowledged', 'row a', 'event a'), call('refused', 'row b'), call('unknown', 'row c'), call('unknown', 'row d', 'event d')];
  expect(effectProblems(calls, found('row a', 'event a', 'row d', 'event d'))).toEqual([]);
});

test.each<[string, Call, string[]]>([
  ['acknowledged and lost', call('acknowledged', 'a'), []],
  ['acknowledged and done twice', call('acknowledged', 'a'), ['a', 'a']],
  ['refused and done', call('refused', 'a'), ['a']],
  ['unknown and done twice', call('unknown', 'a'), ['a', 'a']],
  ['unknown and half done', call('unknown', 'row', 'event'), ['row']],
  ['acknowledged, with its event and without its row', call('acknowledged', 'row', 'event'), ['event']],
  ['requested by nobody', call('acknowledged', 'a'), ['a', 'b']],
])('detects a call that is %s', (_, made, effects) => {
  expect(effectProblems([made], found(...effects))).toHaveLength(1);
});
