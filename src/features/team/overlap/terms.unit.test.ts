import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ANALYSIS } from './settings.ts';
import { analyse, stem, surfaces, termsOf } from './terms.ts';

const any = fc.string({ unit: 'binary', maxLength: 300 });

test('all forms of a word become the same term', () => {
  for (const forms of [
    'retry retries retried retrying',
    'upload uploads uploaded uploading',
    'cache caches cached caching',
    'class classes',
    'plan planned planning',
  ]) {
    expect(new Set(forms.split(' ').map(stem)).size, forms).toBe(1);
  }
});

test('words that only look similar become different terms', () => {
  for (const [one, other] of [
    ['state', 'statistics'],
    ['add', 'ads'],
    ['user', 'use'],
    ['process', 'proceed'],
    ['status', 'stat'],
  ]) {
    expect(termsOf(one as string)).not.toEqual(termsOf(other as string));
  }
});

test('names are split, and also kept whole', () => {
  expect(termsOf('UserRepository')).toEqual(['user', 'repository', 'userrepository']);
  expect(termsOf('user_name')).toContain(termsOf('username')[0]);
  expect(termsOf('src/upload/retryQueue.ts')).toEqual(expect.arrayContaining(['upload', 'retry', 'queu']));
  expect(termsOf('GitHub')).toEqual(termsOf('github'));
});

test('short and long forms of a word become the same term, as do compounds written as one or two words', () => {
  for (const [one, other] of [
    ['db', 'database'],
    ['config', 'configuration'],
    ['PostgreSQL', 'pg'],
    ['health check', 'healthcheck'],
    ['sign in', 'login'],
    ['repo', 'repositories'],
  ]) {
    expect(termsOf(one as string)).toEqual(termsOf(other as string));
  }
});

test('references to other work are dropped: links, hashes, issue numbers', () => {
  expect(termsOf('See #123, org/repo#45, GH-7 #8, https://example.com/upload?retry=1, 9fceb02d0ae5 and me@example.com')).toEqual(['see']);
  expect(termsOf('JSON output of config.json')).toEqual([...termsOf('JSON output'), ...termsOf('config')]);
});

test('texts in other languages have terms', () => {
  expect(termsOf('添加用户头像')).toEqual(['添加', '加用', '用户', '户头', '头像']);
  expect(termsOf('Paramètres')).toEqual(termsOf('parametres'));
  expect(termsOf('утечка памяти')[0]).toBe(termsOf('утечку')[0]);
  expect(termsOf('ログイン画面')).toContain('画面');
});

test('the prefix of a batch is found at the start of a title', () => {
  for (const [title, prefix] of [
    ['[auth-rework] Rotate keys', 'auth-rework'],
    ['feat(api): gzip responses', 'feat(api)'],
    ['Auth rework: magic links', 'auth rework'],
    ['Phase 2 - import customers', 'phase 2'],
    ['Fix the login page', null],
    ['Use a well-known path', null],
    ['[only]', null],
    ['When the user, who is not signed in, opens it: nothing happens', null],
  ]) {
    expect(analyse({ title: title as string }).prefix, title as string).toBe(prefix);
  }
  expect(analyse({ title: '[auth-rework] Rotate keys' }).prefixTerms).toEqual(termsOf('auth-rework'));
});

test('a word in the title weighs more than one in the description', () => {
  const { terms, counts } = analyse({ title: 'upload', scope: 'queue', description: 'broker' });
  const count = (term: string) => counts[terms.indexOf(term)] as number;
  expect(count('upload')).toBeGreaterThan(count('broker'));
  expect(count('queu')).toBe(1);
});

test('the analysis of any text is small and does not change when it is stored as JSON', () => {
  fc.assert(
    fc.property(any, fc.option(any), fc.option(any), (title, scope, description) => {
      const analysed = analyse({ title, scope, description });
      expect(analysed.terms.length).toBeLessThanOrEqual(ANALYSIS.maximumTerms);
      expect(JSON.parse(JSON.stringify(analysed))).toEqual(analysed);
    }),
  );
});

test('every term has a word as it was written', () => {
  fc.assert(
    fc.property(any, (text) => {
      expect([...surfaces(text).keys()].sort()).toEqual([...new Set(termsOf(text))].sort());
    }),
  );
  expect(surfaces('Retrying failed Uploads').get('upload')).toBe('Uploads');
});

test('only the beginning of a very long text counts', () => {
  const filler = 'word '.repeat(ANALYSIS.maximumCharacters);
  expect(termsOf(`kanban ${filler} swimlane`)).toContain('kanban');
  expect(termsOf(`kanban ${filler} swimlane`)).not.toContain('swimlan');
});

test('invisible characters inside a word do not change its term', () => {
  expect(termsOf('re\u200Btry up\u00ADloads \u2060back\u200Doff')).toEqual(termsOf('retry uploads backoff'));
});
