import { existsSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { testApp } from '../../testing/app.ts';

const walSize = (path: string): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

test('closes the store even if a feature hangs or fails while it stops [use.stop.closes-store]', async () => {
  const hanging = Promise.withResolvers<void>();
  const features = [
    { name: 'hanging', implementations: [], stop: () => hanging.promise },
    { name: 'failing', implementations: [], stop: () => Promise.reject(new Error('cannot stop')) },
  ];
  const { app, developer, logged } = await testApp({ features });
  await developer('ana');
  const path = app.config.database_path;
  expect(walSize(path)).toBeGreaterThan(0);
  await app.close(50);
  expect(existsSync(path)).toBe(true);
  expect(walSize(path)).toBe(0);
  expect(logged.join('')).toContain('cannot stop');
  hanging.resolve();
});
