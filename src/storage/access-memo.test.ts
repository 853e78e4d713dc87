import { expect, test } from 'vitest';
import { ENGINE } from '../testing/store/database.ts';
import { openTestStore } from '../testing/store/store.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

// SQLite can tell whether anything has changed, and remembers.
test.runIf(ENGINE === 'postgres')('no more is read than once for all who ask at the same moment, and never before the last of them has asked', async () => {
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
