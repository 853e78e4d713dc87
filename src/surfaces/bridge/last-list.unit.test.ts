import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { lastLists } from './last-list.ts';

const tools = (name: string) => [{ name, inputSchema: { type: 'object' as const } }];

/** Creates a home, and a function that opens the stored tool lists as another process would. */
function home() {
  const env = { HOME: temporaryFolder() };
  const listOf = (origin: string) => lastLists({ origin, timeoutMs: 1, toolsets: undefined }, env)('cv_any');
  return { listOf, folder: join(env.HOME, '.covibe/tools') };
}

it('does not store a single page of a tool list, because the page would look like the complete list', () => {
  const { listOf } = home();
  listOf('http://one').keep({ tools: tools('whole') });
  listOf('http://one').keep({ tools: tools('page'), nextCursor: '2' });
  expect(listOf('http://one').recall()).toEqual({ tools: tools('whole') });
});

it('deletes the oldest lists to make room for new ones', () => {
  const { listOf, folder } = home();
  for (let at = 0; at < 25; at++) {
    const before = new Set(at === 0 ? [] : readdirSync(folder));
    listOf(`http://server-${at}`).keep({ tools: tools(`tool-${at}`) });
    // File times are coarse, so the test sets a different time for each file.
    for (const name of readdirSync(folder)) if (!before.has(name)) utimesSync(join(folder, name), 1_000 + at, 1_000 + at);
  }
  expect(readdirSync(folder)).toHaveLength(20);
  expect([4, 5, 24].map((at) => listOf(`http://server-${at}`).recall())).toEqual([undefined, { tools: tools('tool-5') }, { tools: tools('tool-24') }]);
});
