import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { openTestStore } from '../testing/store/store.ts';
import { JournalFollowers, type JournalPage } from './follow.ts';
import type { NewEvent } from './journal.ts';

const W = 'ws_test';
const event = (kind: string): NewEvent => ({ category: 'work', kind, actor: 'tester' });

/** A journal followed on a real store, with a counter of its queries. */
async function counted() {
  const store = await openTestStore();
  let reads = 0;
  /** Runs after a query and before its result is delivered. */
  const meanwhile: (() => Promise<unknown>)[] = [];
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => {
      reads++;
      return node;
    },
    transformResult: async ({ result }) => {
      await meanwhile.shift()?.();
      return result;
    },
  };
  const followed = new JournalFollowers(store.reader.withPlugin(counter));
  const stop = new AbortController();
  const follower = (after: number) => followed.follow(W, after, stop.signal);
  const append = async (...kinds: string[]) => {
    const seq = await store.append(W, kinds.map(event));
    followed.ring(W);
    return seq;
  };
  const readsOf = async (work: () => Promise<unknown>) => {
    reads = 0;
    await work();
    return reads;
  };
  return { follower, append, stop, readsOf, meanwhile };
}

const kindsOf = ({ value }: IteratorResult<JournalPage>) => (value as JournalPage).map(({ kind }) => kind);

test('all followers at the same position share one query, however many they are', async () => {
  const { follower, append, readsOf, stop } = await counted();
  const after = await append('before');
  const followers = Array.from({ length: 50 }, () => follower(after));
  const waiting = () => Promise.all(followers.map((one) => one.next()));
  for (const round of ['one', 'two', 'three']) {
    const reads = await readsOf(async () => {
      const pages = waiting();
      await append(round, `${round} more`);
      expect((await pages).map(kindsOf)).toEqual(followers.map(() => [round, `${round} more`]));
    });
    // One query reads the page. Another may have found nothing before the commit, and another finds the end.
    expect(reads).toBeLessThanOrEqual(3);
  }
  stop.abort();
});

test('a follower at another position gets the events after it, in order and without gaps', async () => {
  const { follower, append, stop } = await counted();
  for (let seq = 1; seq <= 12; seq++) await append(String(seq));
  const following = Array.from({ length: 12 }, async (_, after) => {
    const kinds: string[] = [];
    const pages = follower(after);
    while (kinds.length < 15 - after) kinds.push(...kindsOf(await pages.next()));
    return kinds;
  });
  await append('13', '14');
  await append('15');
  const seen = await Promise.all(following);
  for (let after = 0; after < 12; after++) expect(seen[after]).toEqual(Array.from({ length: 15 - after }, (_, index) => String(after + index + 1)));
  stop.abort();
});

test('if a query misses a commit, the commit wakes the follower, so that no event is lost', async () => {
  const { follower, append, meanwhile, stop } = await counted();
  meanwhile.push(() => append('at that moment'));
  const pages = [follower(0), follower(0)].map((one) => one.next());
  expect((await Promise.all(pages)).map(kindsOf)).toEqual([['at that moment'], ['at that moment']]);
  stop.abort();
});
