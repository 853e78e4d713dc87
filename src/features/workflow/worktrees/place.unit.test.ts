import { expect, test } from 'vitest';
import { placeFor, slug } from './place.ts';

test.each([
  ['Write the parser', 'write-the-parser'],
  ['  Größe/../prüfen; rm -rf $HOME ', 'gro-e-prufen-rm-rf-home'],
  ['--force', 'force'],
  ['日本語', 'task'],
  [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
])('%j is %j in a branch and a folder', (name, expected) => {
  expect(slug(name, 'task')).toBe(expected);
});

test('places of equal names differ by id, and places of later worktrees of one task differ by number', () => {
  const workflow = { id: 'wf_01ABCDEF', name: 'Ship it' };
  const [one, two] = [
    { id: 'tk_000000AAAAAA', name: 'Test' },
    { id: 'tk_000000BBBBBB', name: 'Test' },
  ];
  expect(placeFor('/srv/app', workflow, one, 0)).toEqual({ path: '/srv/app-worktrees/test-aaaaaa', branch: 'workflow/ship-it-abcdef/test-aaaaaa' });
  expect(placeFor('/srv/app', workflow, two, 0).branch).toBe('workflow/ship-it-abcdef/test-bbbbbb');
  expect(placeFor('/srv/app', workflow, one, 1)).toEqual({ path: '/srv/app-worktrees/test-aaaaaa-2', branch: 'workflow/ship-it-abcdef/test-aaaaaa-2' });
});
