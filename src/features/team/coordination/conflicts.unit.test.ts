import { expect, test } from 'vitest';
import { mayBeSameRepo, withoutCredentials } from '../../../kernel/repo.ts';
import { covering, literalPaths, sameAgent, scopesMeet } from './conflicts.ts';
import { pathOf } from './globs.ts';

const over = (paths: string[], symbols: string[] = []) => ({ repo: 'acme/app', paths, symbols });
const both = (a: ReturnType<typeof over>, b: ReturnType<typeof over>) => [scopesMeet(a, b), scopesMeet(b, a)];

test('a claim on a directory covers everything below it; a claim on src/* does not', () => {
  expect(covering(['src/upload'])(pathOf('src/upload/retry.ts'))).toBe(true);
  expect(covering(['src/upload/'])(pathOf('src/upload/retry.ts'))).toBe(true);
  expect(covering(['src/upload'])(pathOf('src/uploads.ts'))).toBe(false);
  expect(covering(['src/*'])(pathOf('src/upload/retry.ts'))).toBe(false);
  expect(both(over(['src/upload']), over(['src/upload/**/*.ts']))).toEqual([true, true]);
});

test('a file covers its symbols; a symbol matches the same name in the same or an unnamed file, and nothing else', () => {
  expect(both(over(['src/a.ts']), over([], ['src/a.ts#parse']))).toEqual([true, true]);
  expect(both(over(['src/*.ts']), over([], ['src/a.ts#parse']))).toEqual([true, true]);
  expect(both(over([], ['src/a.ts#parse']), over([], ['src/a.ts#parse']))).toEqual([true, true]);
  expect(both(over([], ['src/a.ts#parse']), over([], ['parse']))).toEqual([true, true]);
  expect(both(over([], ['src/a.ts#parse']), over([], ['src/b.ts#parse']))).toEqual([false, false]);
  expect(both(over([], ['src/a.ts#parse']), over([], ['src/a.ts#print']))).toEqual([false, false]);
  expect(both(over(['src/**']), over([], ['parse']))).toEqual([false, false]);
});

test('two holders are compared by their sessions if both sessions are known, and otherwise by their tokens', () => {
  const agent = (actor: string, sessionId: string | null) => ({ actor, sessionId });
  expect(sameAgent(agent('a', 's1'), agent('a', 's1'))).toBe(true);
  expect(sameAgent(agent('a', 's1'), agent('a', null))).toBe(true);
  expect(sameAgent(agent('a', 's1'), agent('a', 's2'))).toBe(false);
  expect(sameAgent(agent('a', null), agent('b', null))).toBe(false);
});

test('a repository matches by any of its names, and is stored without the password in its URL', () => {
  const forms = ['git@github.com:acme/app.git', 'https://github.com/Acme/App', 'ssh://git@github.com:22/acme/app.git', 'https://x:secret@github.com/acme/app'];
  for (const form of forms) {
    for (const other of [...forms, 'acme/app', 'app']) expect([form, other, mayBeSameRepo(form, other)]).toEqual([form, other, true]);
    expect(mayBeSameRepo(form, 'https://github.com/acme/apple')).toBe(false);
    expect(mayBeSameRepo(form, 'other/app')).toBe(false);
  }
  expect(withoutCredentials('https://x:secret@github.com/acme/app')).toBe('https://github.com/acme/app');
  expect(withoutCredentials('https://x:pa@ss@github.com/acme/app')).toBe('https://github.com/acme/app');
  expect(withoutCredentials('git@github.com:acme/app.git')).toBe('git@github.com:acme/app.git');
});

test('only paths without wildcards count as the files of a claim', () => {
  expect(literalPaths(['src/a.ts', 'src/*.ts', 'src/a.ts', 'docs/'])).toEqual(['src/a.ts', 'docs']);
});
