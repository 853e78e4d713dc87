import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { servedApp } from '../../../testing/app.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { noteRepo } from '../state.ts';
import { sendHeartbeat } from './heartbeat.ts';

test('a heartbeat reports a repository with too long a path without the path', async () => {
  const { url, ...app } = await servedApp();
  const { token } = await app.developer('ana');
  const env = { HOME: temporaryFolder() };
  const [near, far] = [temporaryFolder(), join(temporaryFolder(), ...Array(10).fill('d'.repeat(50)))];
  mkdirSync(far, { recursive: true });
  noteRepo(env, { checkout: near, repo: 'near' }, 1);
  noteRepo(env, { checkout: far, repo: 'far' }, 2);
  expect(await sendHeartbeat(env, url, token)).toEqual({ repos: 2, offer: undefined });
  const repos = await app.app.store.reader.selectFrom('registered_repos').select(['repo', 'path']).orderBy('repo').execute();
  expect(repos).toEqual([
    { repo: 'far', path: expect.not.stringContaining('d'.repeat(50)) },
    { repo: 'near', path: near },
  ]);
});
