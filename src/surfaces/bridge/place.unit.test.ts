import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { servedApp } from '../../testing/app.ts';
import { ERAS } from '../../testing/mcp-client.ts';
import { bridge, textOf } from '../../testing/programs/bridge.ts';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { temporaryFolder } from '../../testing/store/database.ts';

it.each(ERAS)(
  '[companion.repos.registered-by-activity] reports the working folder of a %s client, and registers its repository on this machine',
  async (era) => {
    const { url, ...t } = await servedApp();
    const repository = temporaryRepository();
    repository.git(['remote', 'add', 'origin', 'https://alice:secret@git.example/acme/app.git']);
    repository.git(['switch', '--quiet', '--create', 'feature/ü']);
    const HOME = temporaryFolder();
    const { client } = await bridge(era, { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: (await t.developer('alice')).token, HOME }, { cwd: repository.path });
    const call = async (name: string, args: Record<string, unknown>) => {
      const result = await client.callTool({ name, arguments: args });
      expect(result, textOf(result)).toMatchObject({ isError: false });
    };
    await client.listTools();
    expect(() => readFileSync(join(HOME, '.covibe/repos.json'))).toThrow('ENOENT');

    const repo = 'https://git.example/acme/app.git';
    await call('covibe_session', { operation: 'start' });
    await call('covibe_session', { operation: 'start', repo: 'git@git.example:acme/app' });
    await call('covibe_session', { operation: 'start', repo: 'acme/other' });
    await call('covibe_session', { operation: 'start', repo: 'acme/other', branch: 'main' });
    expect((await t.events({ kind: 'session.started' })).map(({ payload: { repo, branch } }) => [repo, branch])).toEqual([
      [repo, 'feature/ü'],
      ['git@git.example:acme/app', 'feature/ü'],
      ['acme/other', null],
      ['acme/other', 'main'],
    ]);

    repository.git(['switch', '--quiet', '--detach']);
    await call('covibe_session', { operation: 'start' });
    expect((await t.events({ kind: 'session.started' })).at(-1)?.payload).toMatchObject({ repo, branch: null });

    await call('covibe_coordination', { operation: 'claim', paths: ['src/a.ts'] });
    expect((await t.events({ kind: 'claim.made' })).at(-1)?.payload).toMatchObject({ repo });
    await call('covibe_coordination', { operation: 'check_conflicts', paths: ['src/a.ts'] });

    const { repos } = JSON.parse(readFileSync(join(HOME, '.covibe/repos.json'), 'utf8')) as { repos: unknown[] };
    expect(repos).toEqual([{ path: repository.path, repo, last_active_at: expect.any(Number) }]);
    expect(JSON.stringify(await t.events())).not.toContain('secret');
  },
);

it('requires a claim to name its repository if the working folder is outside a repository', async () => {
  const { url, ...t } = await servedApp();
  const { client } = await bridge('modern', { COVIBE_BASE_URL: url, COVIBE_MCP_TOKEN: (await t.developer('alice')).token }, { cwd: temporaryFolder() });
  const claim = await client.callTool({ name: 'covibe_coordination', arguments: { operation: 'claim', paths: ['a.ts'] } });
  expect(claim).toMatchObject({ isError: true, structuredContent: { data: { code: 'INVALID_INPUT', field: 'repo' } } });
  await client.callTool({ name: 'covibe_session', arguments: { operation: 'start' } });
  expect((await t.events({ kind: 'session.started' })).at(-1)?.payload).toMatchObject({ repo: null, branch: null });
});
