import { expect, test } from 'vitest';
import { ENGINE } from '../testing/store/database.ts';
import { openTestStore } from '../testing/store/store.ts';
import { SCHEMA } from './schema.ts';

test('the schema that the migrations make is the one on record: npm run schema writes it anew', async () => {
  const store = await openTestStore();
  expect(await store.engine.dumpSchema()).toBe(SCHEMA[ENGINE]);
});
