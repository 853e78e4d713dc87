import { expect, test } from 'vitest';
import { asHeader, placeHeaders } from '../../machine/git/place.ts';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { PLACE_HEADER, REPOSITORY_HEADER } from '../../wire/http-client.ts';
import { fromHeader, reportedIn } from './body.ts';

const heard = (headers: Record<string, string>) => reportedIn((name) => headers[name]);
const heardPlace = (place: unknown) => heard({ [PLACE_HEADER]: asHeader(JSON.stringify(place)) }).place;

test('a path goes through a header unharmed, and what is no absolute path is not believed', () => {
  expect(fromHeader(asHeader('/home/zoë/my repo'))).toBe('/home/zoë/my repo');
  expect(fromHeader(asHeader('C:\\work\\app'))).toBe('C:\\work\\app');
  for (const nonsense of [undefined, '', 'app', '%E0%A4%A', asHeader('/a\nb'), asHeader(`/${'x'.repeat(1_000)}`)]) expect(fromHeader(nonsense)).toBeUndefined();
});

test('a place arrives as it was: folder, repository and branch, from a folder of the repository and from outside of any', () => {
  const { path, write } = temporaryRepository();
  write('docs/größe.md', '');
  const folder = `${path}/docs`;
  expect(heard(placeHeaders(folder))).toEqual({ repository: path, place: { folder, repo: 'app', branch: 'main' } });
  const outside = temporaryFolder();
  expect(heard(placeHeaders(outside))).toEqual({ repository: outside, place: { folder: outside, repo: null, branch: null } });
});

test('what is said of a place is bounded, carries no password on, and is left out where it makes no sense', () => {
  expect(heardPlace({ folder: '/a', repo: 'https://u:pw@git.example/a', branch: 'b' })).toEqual({ folder: '/a', repo: 'https://git.example/a', branch: 'b' });
  expect(heardPlace({ folder: '/a', repo: 5, branch: 'x'.repeat(301), more: 1 })).toEqual({ folder: '/a', repo: null, branch: null });
  expect(heardPlace({ folder: '/a', repo: 'a\u0000b', branch: ' ' })).toEqual({ folder: '/a', repo: null, branch: null });
  for (const nonsense of [null, [], 'a', {}, { folder: 'a' }, { folder: '/a', repo: 'x'.repeat(5_000) }]) expect(heardPlace(nonsense)).toBeUndefined();
  expect(heard({ [PLACE_HEADER]: '%7B%' }).place).toBeUndefined();
  // Beside everything else that a request carries.
  expect(placeHeaders(`/${'ü'.repeat(900)}`)).toEqual({ [REPOSITORY_HEADER]: expect.any(String) });
});
