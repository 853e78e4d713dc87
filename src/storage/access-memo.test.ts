import { expect, test } from 'vitest';
import { ENGINE } from '../testing/store/database.ts';
import { openTestStore } from '../testing/store/store.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

// Only on PostgreSQL: SQLite can detect changes, so it caches reads.
test.runIf(ENGINE === 'postgres')('callers in the same turn of the event loop share one query, which starts after the last of them has called', async () => {
  const { access } = await openTestStore();
  let [asked, reads] = [0, 0];
  const ask = () => {
    asked++;
    return access.get('key', async () => {
      reads++;
      return asked;
    });
  };
  const answers = await Promise.all([ask(), ask(), Promise.resolve().then(ask)]);
  expect({ answers, reads }).toEqual({ answers: [3, 3, 3], reads: 1 });
  const [first] = await Promise.all([ask(), turn().then(ask)]);
  expect(first).toBe(4);
  expect(reads).toBe(3);
});
