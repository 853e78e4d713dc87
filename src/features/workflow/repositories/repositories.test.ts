import { expect, test } from 'vitest';
import { workflowApp } from '../../../testing/scenes/workflow.ts';

test('a repository is registered once per path, and keeps its id if its name changes [repository.register.shape]', async () => {
  const { ok, ben, events } = await workflowApp();
  const { id } = await ok('repository_register', { path: '/srv/shop' });
  expect(id).toMatch(/^rp_/);
  expect((await ok('repository_register', { path: '/srv/shop/', name: 'The shop' }, ben)).id).toBe(id);
  expect((await ok('repository_register', { path: '//srv//shop' })).id).toBe(id);
  expect(await ok('repository_get', { path: '/srv/shop' })).toMatchObject({ id, name: 'The shop' });
  await ok('repository_register', { path: '/srv/shop' });
  expect(await ok('repository_get', { path: '/srv/shop' })).toMatchObject({ id, name: 'The shop' });
  expect((await events({ kind: 'repository.registered' })).map(({ subject, payload }) => [subject, payload.name])).toEqual([
    [id, 'shop'],
    [id, 'The shop'],
  ]);
});

test('a path must be absolute and without . or .. parts; the refusal names the field [repository.register.absolute]', async () => {
  const { ok, refused } = await workflowApp();
  for (const path of ['shop', './shop', '../shop', '~/shop', '/srv/../etc', '', '/srv/./shop']) {
    expect(await refused('repository_register', { path }), path).toMatchObject({ code: 'INVALID_INPUT', field: 'path' });
  }
  for (const path of ['/', 'C:\\work\\shop', '\\\\server\\share', '/srv/a b']) expect((await ok('repository_register', { path })).path).toBe(path);
});

test('repositories are listed by path, in pages, with their total [repository.list.shape]', async () => {
  const { ok, refused } = await workflowApp();
  for (const name of ['c', 'a', 'b']) await ok('repository_register', { path: `/srv/${name}` });
  const { repositories, total } = await ok('repository_list', {});
  expect(repositories.map(({ path, name }: { path: string; name: string }) => [path, name])).toEqual([
    ['/srv/a', 'a'],
    ['/srv/b', 'b'],
    ['/srv/c', 'c'],
  ]);
  expect(total).toBe(3);
  expect(await ok('repository_list', { limit: 1, offset: 1 })).toMatchObject({ repositories: [{ path: '/srv/b' }], total: 3 });
  expect(await refused('repository_list', { limit: 201 })).toMatchObject({ field: 'limit' });
});

test('an unregistered path returns null, and a registered path returns its repository [repository.get.shape]', async () => {
  const { ok } = await workflowApp();
  expect(await ok('repository_get', { path: '/srv/shop' })).toEqual({ repository: null });
  const { id } = await ok('repository_register', { path: '/srv/shop' });
  const found = await ok('repository_get', { path: '/srv/shop/' });
  expect(found).toMatchObject({ id, path: '/srv/shop', name: 'shop', repository: { id, path: '/srv/shop' } });
});

test('the repository of a new workflow is registered with it, and other workspaces do not see it', async () => {
  const { ok, developer } = await workflowApp();
  await ok('workflow_create', { name: 'w', source_type: 'prompt', source_content: 'x', repository_path: '/srv/app' });
  expect((await ok('repository_get', { path: '/srv/app' })).repository).not.toBeNull();
  const stranger = await developer('eve', undefined, 'ws_other');
  expect(await ok('repository_get', { path: '/srv/app' }, stranger)).toEqual({ repository: null });
  expect(await ok('repository_list', {}, stranger)).toEqual({ repositories: [], total: 0 });
});
