import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ENGINE } from '../testing/store/database.ts';
import { rowTypes } from '../testing/store/row-types.ts';
import { openTestStore } from '../testing/store/store.ts';
import { SCHEMA } from './schema.ts';

test('the schema that the migrations make is the one on record: npm run schema writes it anew', async () => {
  const store = await openTestStore();
  expect(await store.engine.dumpSchema()).toBe(SCHEMA[ENGINE]);
});

test('the row types are those that the migrations describe: npm run schema writes them anew', () => {
  expect(readFileSync(new URL('schema-rows.ts', import.meta.url), 'utf8')).toBe(rowTypes());
});
