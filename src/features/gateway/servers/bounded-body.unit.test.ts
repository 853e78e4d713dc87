import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withBoundedBody } from './bounded-body.ts';

test('an endless answer is cut off; a stream may be endless, but not one of its events', async () => {
  const chunks = (text: string, count: number) =>
    ReadableStream.from(Array.from({ length: count }, () => new TextEncoder().encode(text))) as unknown as BodyInit;
  const size = async (body: BodyInit, type: string) => (await withBoundedBody(new Response(body, { headers: { 'content-type': type } }), 1000).text()).length;
  expect(await size(chunks('x'.repeat(100), 10), 'application/json')).toBe(1000);
  await expect(size(chunks('x'.repeat(100), 11), 'application/json')).rejects.toThrow('more than 1000 bytes');
  for (const end of ['\n\n', '\r\n\r\n']) expect(await size(chunks(`data: ${'x'.repeat(100)}${end}`, 100), 'text/event-stream')).toBeGreaterThan(10_000);
  await expect(size(chunks(`data: ${'x'.repeat(100)}`, 100), 'text/event-stream')).rejects.toThrow('more than 1000 bytes');
});

test('endless error responses and compressed responses that expand too far are cut off too', async () => {
  const bounded = (init: ResponseInit) => withBoundedBody(new Response('x'.repeat(2_000), init), 1000).text();
  await expect(bounded({ status: 500 })).rejects.toThrow('more than 1000 bytes');
  await expect(bounded({ headers: { 'content-encoding': 'gzip', 'content-length': '20' } })).rejects.toThrow('more than 1000 bytes');
  expect(await bounded({ headers: { 'content-length': '20' } })).toHaveLength(2_000);
});

test('a stream that never pauses is read at a limited rate', async () => {
  const event = new TextEncoder().encode('data: x\n\n'.repeat(1_000));
  const pull = async (controller: ReadableStreamDefaultController) => {
    await yieldToEventLoop();
    controller.enqueue(event);
  };
  const endless = new ReadableStream({ pull }) as unknown as BodyInit;
  const reader = withBoundedBody(new Response(endless, { headers: { 'content-type': 'text/event-stream' } })).body?.getReader();
  let chunks = 0;
  const reading = async () => {
    while (!(await reader?.read())?.done) chunks++;
  };
  const read = reading();
  await new Promise((resolve) => setTimeout(resolve, 300));
  // Eight thousand events are read immediately, and after that a few hundred per second.
  expect(chunks).toBeGreaterThan(0);
  expect(chunks).toBeLessThan(12);
  await reader?.cancel();
  await read;
});
