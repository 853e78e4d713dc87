import { expect, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { teamApp } from '../../../testing/scenes/team.ts';
import { indexItem } from './store.ts';

test("a teammate's check finds indexed work of a workflow", async () => {
  const app = await teamApp();
  await app.app.store.write(DEFAULT_WORKSPACE_ID, (tx) =>
    indexItem(tx, {
      id: 'tsk_1',
      kind: 'workflow_task',
      ownerId: app.ben.principal.developerId as string,
      title: 'Cache thumbnail images in the gallery',
      scope: 'Keep generated thumbnails on disk',
      description: null,
      action: null,
      component: null,
      taskType: null,
      status: 'active',
      repo: null,
      files: [],
      closedAt: null,
    }),
  );
  const check = await app.task('check', { title: 'Gallery thumbnail images cached on disk', task_type: 'feature' });
  expect(check.data.candidates).toEqual([expect.objectContaining({ id: 'tsk_1', type: 'workflow_task', owner: 'ben' })]);
});
