import { expect, test } from 'vitest';
import { listAll } from './listing.ts';

const SPOKEN = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: null };
const list = (page: (cursor: number) => object) => listAll(async (_method, params) => ({ ...page(Number(params?.cursor ?? 0)) }), SPOKEN);
const named = (count: number, more: object = {}) => Array.from({ length: count }, (_, at) => ({ name: `t${at}`, ...more }));

test('an endless or oversized listing is rejected, however it is divided into pages', async () => {
  expect((await list(() => ({ tools: named(10_000) }))).tools).toHaveLength(10_000);
  const tooMuch = 'its answer to tools/list exceeds the limit of';
  await expect(list(() => ({ tools: named(10_001) }))).rejects.toThrow(tooMuch);
  await expect(list((cursor) => ({ tools: [], nextCursor: String(cursor + 1) }))).rejects.toThrow(tooMuch);
  await expect(list((cursor) => ({ tools: named(50, { description: 'x'.repeat(200 * 1024) }), nextCursor: String(cursor + 1) }))).rejects.toThrow(tooMuch);
  let inputSchema = {};
  for (let level = 0; level < 2_000; level++) inputSchema = { inner: inputSchema };
  await expect(list(() => ({ tools: named(1, { inputSchema }) }))).rejects.toThrow('nested deeper than 1000 levels');
  await expect(list(() => ({ tools: 'none' }))).rejects.toThrow('has no list of tools');
});
