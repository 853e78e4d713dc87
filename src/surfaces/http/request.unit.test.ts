import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { PLACE_HEADER, REPOSITORY_HEADER } from '../../wire/headers.ts';
import { asHeader, placeHeaders } from '../place-headers.ts';
import { countJson, isFromHere, pathFromHeader, readReportedPlace } from './request.ts';

const heard = (headers: Record<string, string>) => readReportedPlace((name) => headers[name]);
const heardPlace = (place: unknown) => heard({ [PLACE_HEADER]: asHeader(JSON.stringify(place)) }).place;

test('a path in a header arrives unchanged, and a value that is not an absolute path is ignored', () => {
  expect(pathFromHeader(asHeader('/home/zoë/my repo'))).toBe('/home/zoë/my repo');
  expect(pathFromHeader(asHeader('C:\\work\\app'))).toBe('C:\\work\\app');
  for (const nonsense of [undefined, '', 'app', '%E0%A4%A', asHeader('/a\nb'), asHeader(`/${'x'.repeat(1_000)}`)])
    expect(pathFromHeader(nonsense)).toBeUndefined();
});

test('folder, repository and branch arrive unchanged, from inside and outside a repository', () => {
  const { path, write } = temporaryRepository();
  write('docs/größe.md', '');
  const folder = `${path}/docs`;
  expect(heard(placeHeaders(folder))).toEqual({ repository: path, place: { folder, repo: 'app', branch: 'main' } });
  const outside = temporaryFolder();
  expect(heard(placeHeaders(outside))).toEqual({ repository: outside, place: { folder: outside, repo: null, branch: null } });
});

test('limits the fields of a place, removes passwords, and ignores invalid values', () => {
  expect(heardPlace({ folder: '/a', repo: 'https://u:pw@git.example/a', branch: 'b' })).toEqual({ folder: '/a', repo: 'https://git.example/a', branch: 'b' });
  expect(heardPlace({ folder: '/a', repo: 5, branch: 'x'.repeat(301), more: 1 })).toEqual({ folder: '/a', repo: null, branch: null });
  expect(heardPlace({ folder: '/a', repo: 'a\u0000b', branch: ' ' })).toEqual({ folder: '/a', repo: null, branch: null });
  for (const nonsense of [null, [], 'a', {}, { folder: 'a' }, { folder: '/a', repo: 'x'.repeat(5_000) }]) expect(heardPlace(nonsense)).toBeUndefined();
  expect(heard({ [PLACE_HEADER]: '%7B%' }).place).toBeUndefined();
  // The headers of a place must fit together with the other headers of a request.
  expect(placeHeaders(`/${'ü'.repeat(900)}`)).toEqual({ [REPOSITORY_HEADER]: expect.any(String) });
});

test('treats a request as local if its address, host name and headers are all local', () => {
  const host = 'localhost:3001';
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect([address, isFromHere(address, { host })]).toEqual([address, true]);
  for (const own of ['127.0.0.1:3001', '[::1]:3001', 'localhost']) expect([own, isFromHere('::1', { host: own })]).toEqual([own, true]);
});

test('treats a request as remote because of its address, its host name, a missing host name or a header of a proxy', () => {
  const host = 'localhost:3001';
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', 'unknown', '2001:db8::127.0.0.1'])
    expect([address, isFromHere(address, { host })]).toEqual([address, false]);
  for (const other of ['covenant.example.org', 'localhost.example.org', '127.0.0.1.example.org', '10.0.0.1:3001', 'a b', '']) {
    expect([other, isFromHere('127.0.0.1', { host: other })]).toEqual([other, false]);
  }
  expect(isFromHere('127.0.0.1', {})).toBe(false);
  for (const name of ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']) {
    expect([name, isFromHere('127.0.0.1', { host, [name]: '' })]).toEqual([name, false]);
  }
});

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Object.values(value).reduce<number>((most, inner) => Math.max(most, depthOf(inner)), 0) : 0;
const valuesOf = (value: unknown): number =>
  1 + (typeof value === 'object' && value !== null ? Object.values(value).reduce<number>((sum, inner) => sum + valuesOf(inner), 0) : 0);

test('accepts JSON within the bounds and refuses JSON beyond them, even if its strings contain brackets or quotes', () => {
  const strings = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', 'a', 'é') });
  const values = fc.json({ stringUnit: fc.constantFrom('"', '\\', '[', '{', ',', 'a') }).map((text) => JSON.parse(text) as unknown);
  fc.assert(
    fc.property(values, strings, (value, text) => {
      const whole = [value, text];
      const bytes = Buffer.from(JSON.stringify(whole));
      const [depth, nodes] = [depthOf(whole), valuesOf(whole)];
      expect(countJson(bytes, { json_depth: depth, json_nodes: nodes * 2 })).toBeGreaterThanOrEqual(nodes / 2);
      expect(countJson(bytes, { json_depth: depth - 1, json_nodes: nodes * 2 })).toBe('too-deep');
      // An empty container has no comma to count, so at least half of the values are counted.
      expect(countJson(bytes, { json_depth: depth, json_nodes: Math.floor(nodes / 2) - 1 })).toBe('too-many-nodes');
    }),
    { numRuns: 500, seed: 7 },
  );
});
