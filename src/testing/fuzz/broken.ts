import fc from 'fast-check';
import { Pick } from './pick.ts';

type Path = readonly (string | number)[];

const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { inner: value };
  return value;
};

/** JSON objects with keys that have a special meaning in JavaScript. */
const PROTOTYPES = ['{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"admin":true}}}', '{"toString":1,"valueOf":2}', '{"hasOwnProperty":null}'];

/** Values that no field accepts and that careless code cannot handle. Functions create them, so that the large ones are not always in memory. */
const HOSTILE: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => 0,
  () => -0,
  () => -1,
  () => 1.5,
  () => 2 ** 53,
  () => 1e308,
  () => Number.POSITIVE_INFINITY,
  () => '',
  () => ' ',
  () => '\0',
  () => 'a\0b',
  () => '\ud800',
  () => 'x\udfff',
  () => '\u202e\u0007',
  () => 'x'.repeat(9_001),
  () => '語'.repeat(70_000),
  () => '../../etc/passwd',
  () => "'; drop table tasks; --",
  () => [],
  () => ({}),
  () => [[]],
  () => Array.from({ length: 1_001 }, (_, index) => index),
  () => deep(63),
  () => deep(66),
  () => deep(1_000),
  ...PROTOTYPES.map((text) => () => JSON.parse(text) as unknown),
];

const UNKNOWN = ['zz_unknown', '__proto__', 'constructor', 'toString', 'Operation', 'a.b', '', '\0', 'workspace_id', 'developer_id', 'actor'];

/** Generates input with one error. A field is missing, added or replaced, or the input is not an object. */
export function broken(fine: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const hostile = fc.nat(HOSTILE.length - 1).map((index) => HOSTILE[index]?.());
  return fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fine, fc.nat(), hostile).map(([value, at, bad]) => replaced(value, at, bad)) },
    { weight: 2, arbitrary: fc.tuple(fine, fc.nat()).map(([value, at]) => without(value, at)) },
    { weight: 2, arbitrary: fc.tuple(fine, fc.constantFrom(...UNKNOWN), hostile).map(([value, name, bad]) => withField(value, name, bad)) },
    { weight: 1, arbitrary: hostile },
  );
}

const isTree = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !(value instanceof Pick);

function placesIn(value: unknown, at: Path = []): Path[] {
  if (!isTree(value)) return [at];
  return [at, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...at, Array.isArray(value) ? Number(key) : key]))];
}

function replaced(value: unknown, at: number, bad: unknown): unknown {
  const places = placesIn(value).slice(1);
  const place = places[at % Math.max(1, places.length)];
  return place ? put(value, place, bad) : bad;
}

function put(value: unknown, [key, ...rest]: Path, bad: unknown): unknown {
  if (key === undefined) return bad;
  if (!isTree(value)) return value;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string | number, unknown>;
  copy[key] = put(copy[key], rest, bad);
  return copy;
}

function without(value: unknown, at: number): unknown {
  if (!isTree(value)) return value;
  const gone = Object.keys(value)[at % Math.max(1, Object.keys(value).length)];
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== gone));
}

/** Returns a copy with the field set. It does not use an assignment, because assigning `__proto__` would change the prototype. */
function withField(value: unknown, name: string, bad: unknown): unknown {
  if (!isTree(value)) return value;
  return Object.defineProperty({ ...value }, name, { value: bad, enumerable: true, configurable: true, writable: true });
}
