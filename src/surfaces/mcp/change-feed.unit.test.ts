import { expect, onTestFinished, test, vi } from 'vitest';
import type { App } from '../../main.ts';
import { testApp } from '../../testing/app.ts';
import { until } from '../../testing/until.ts';
import { createChangeFeed, type ListKind } from './change-feed.ts';

test('notifies a client of grants that were made while the journal could not be read', async () => {
  const { app, developer, done } = await testApp();
  const { principal } = await developer('ana');
  const outage = Promise.withResolvers<never>();
  const began = Promise.withResolvers<void>();
  const follow = vi.fn(app.store.follow).mockImplementationOnce(async function* () {
    began.resolve();
    yield await outage.promise;
  });
  const feed = createChangeFeed({ ...app, store: { ...app.store, follow } } as App);
  onTestFinished(() => feed.close());
  const heard: ListKind[] = [];
  const stop = feed.listen({
    caller: { principal, toolsets: new Set(), repository: undefined, place: undefined, isCurrent: async () => true },
    listsChanged: (kinds) => heard.push(...kinds),
    resourcesUpdated: () => {},
    accessChanged: () => {},
  });
  onTestFinished(stop);
  await began.promise;
  await done('capabilities.grant', { action: 'tool.call.echo', developer: 'ana' });
  outage.reject(new Error('out of reach'));
  await until(() => expect(heard).toEqual(['tools']));
});
