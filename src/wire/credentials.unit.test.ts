import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/store/database.ts';
import { agentsWithTokens, closeCredentials, configuredToken, credentialsPath, isOpenToOthers, storedOrigin, storeTokens, tokensFrom } from './credentials.ts';

function home(text?: string) {
  const env = { HOME: temporaryFolder() };
  mkdirSync(dirname(credentialsPath(env)));
  if (text !== undefined) writeFileSync(credentialsPath(env), text);
  return env;
}

const [FIRST, SECOND] = ['http://127.0.0.1:3001', 'https://covenant.example'];

test('each server has its own tokens, which other servers never see and which are kept after a setup for another server', () => {
  const env = home('{ "mine": 1 }');
  storeTokens(env, FIRST, { codex: 'cv_1', cursor: 'cv_2' });
  storeTokens(env, SECOND, { codex: 'cv_3' });
  expect([tokensFrom(env, FIRST), tokensFrom(env, SECOND), tokensFrom(env, 'http://x')]).toEqual([{ codex: 'cv_1', cursor: 'cv_2' }, { codex: 'cv_3' }, {}]);
  expect([configuredToken(env, FIRST, 'codex'), configuredToken(env, SECOND, 'cursor')]).toEqual(['cv_1', undefined]);
  storeTokens(env, FIRST, { codex: 'cv_4' });
  expect([tokensFrom(env, FIRST), tokensFrom(env, SECOND)]).toEqual([{ codex: 'cv_4', cursor: 'cv_2' }, { codex: 'cv_3' }]);
  expect(JSON.parse(readFileSync(credentialsPath(env), 'utf8'))).toMatchObject({ mine: 1, origin: FIRST, tokens: { codex: 'cv_4' } });
  expect(agentsWithTokens(env)).toEqual(['codex', 'cursor']);
});

test.each([
  '',
  '[]',
  'null',
  '"cv_1"',
  '{ "tokens": "cv_1" }',
  '{ "tokens": ["cv_1"], "others": 1 }',
  '{ "tokens": { "codex": 1 }, "origin": 2 }',
  '{ "tokens": { "codex": "cv_ab cd" } }',
])('reads no token from %j, and can store one', (text) => {
  const env = home(text);
  expect([tokensFrom(env, FIRST), storedOrigin(env), agentsWithTokens(env)]).toEqual([{}, undefined, []]);
  storeTokens(env, FIRST, { codex: 'cv_2' });
  expect(tokensFrom(env, FIRST)).toEqual({ codex: 'cv_2' });
});

test('makes the file private if others can read it', () => {
  const env = home('{}');
  chmodSync(credentialsPath(env), 0o644);
  expect(isOpenToOthers(env)).toBe(true);
  closeCredentials(env);
  expect([isOpenToOthers(env), statSync(credentialsPath(env)).mode & 0o777]).toEqual([false, 0o600]);
});
