import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { payloadFrom } from './hook.ts';

const given = (...chunks: (string | Buffer)[]) => {
  const stream = new PassThrough();
  for (const chunk of chunks) stream.write(chunk);
  return stream;
};

it('reads a payload completely, and treats JSON that is not an object as empty', async () => {
  const ö = Buffer.from('ö');
  expect(await payloadFrom(given('{"a":"', ö.subarray(0, 1), ö.subarray(1), '"}').end())).toEqual({ a: 'ö' });
  expect(await payloadFrom(given('[1]').end())).toEqual({});
});

it('reports a payload that is broken, too large or endless, without waiting for its end', async () => {
  expect(await payloadFrom(given('{"a":').end())).toBe('the payload is not JSON');
  expect(await payloadFrom(given('{"a":1}'), 20)).toBe('the payload is incomplete');
  expect(await payloadFrom(given(Buffer.alloc(65 * 1024 * 1024)))).toBe('the payload is larger than 64 MiB');
});
