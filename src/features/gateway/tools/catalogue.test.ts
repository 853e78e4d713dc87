import { expect, test } from 'vitest';
import { testApp } from '../../../testing/app.ts';
import { fakeUpstreams } from '../../../testing/stand-ins/fake-upstreams.ts';
import { percentile } from './tools.ts';

interface Row {
  name: string;
  server: string;
  tokens: number;
  calls_24h: number;
  errors_24h: number;
  p95_ms: number | null;
}

test('a catalogue page has the token cost and the use in 24 hours of each tool, and the use is also summed up by server', async () => {
  const upstreams = fakeUpstreams();
  upstreams.tools.set('fs_read', {
    definition: { description: 'Reads a file. '.repeat(20), inputSchema: { type: 'object' } },
    work: async () => ({ content: [] }),
  });
  const t = await testApp({ upstreams: upstreams.create });
  const mira = await t.developer('mira');
  await t.done('capabilities.grant', { action: 'tool.call.fs_read', developer: 'mira' });
  await t.tool('fs_read', {}, mira);
  await t.tool('echo', { text: 'hi' }, mira);
  const page = async (input: object) => (await t.done('tools.page', input)) as unknown as { items: Row[]; total: number };

  const [read] = (await page({ server: 'fs' })).items;
  expect(read).toMatchObject({ name: 'fs_read', server: 'fs', calls_24h: 1, errors_24h: 0, p95_ms: expect.any(Number) });
  const [echo] = (await page({ text: 'ECHO' })).items;
  expect(echo).toMatchObject({ name: 'echo', server: 'native', calls_24h: 1, errors_24h: 1 });
  expect(read?.tokens).toBeGreaterThan(60);
  expect(echo?.tokens).toBeLessThan(60);
  const { items: first, total } = await page({ limit: 2 });
  const { items: second } = await page({ limit: 2, offset: 2 });
  const names = [...first, ...second].map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect(new Set(names).size).toBe(4);
  expect(total).toBe(((await t.done('tools.list', {})) as { items: unknown[] }).items.length);

  expect(await t.done('tools.usage', {})).toMatchObject({
    items: [
      { server: 'native', errors_24h: 1 },
      { server: 'fs', tools: 1, calls_24h: 1, errors_24h: 0 },
    ],
  });
  expect(await t.done('tools.show', { name: 'fs_read' })).toMatchObject({ tokens: read?.tokens, inputSchema: { type: 'object' } });
  expect((await t.action('tools.show', { name: 'none' })).reply).toMatchObject({ code: 'TOOL_NOT_FOUND' });
  t.clock.advance(25 * 3_600_000);
  expect((await page({ server: 'fs' })).items).toMatchObject([{ calls_24h: 0, p95_ms: null }]);
});

test('the 95th percentile is the smallest value that 95 of 100 values do not exceed', () => {
  expect(percentile([], 0.95)).toBeNull();
  expect(percentile([7], 0.95)).toBe(7);
  expect(
    percentile(
      Array.from({ length: 100 }, (_, at) => 100 - at),
      0.95,
    ),
  ).toBe(95);
});
