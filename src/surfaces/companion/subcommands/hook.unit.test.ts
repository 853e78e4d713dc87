import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { payloadFrom } from './hook.ts';

const given = (...chunks: (string | Buffer)[]) => {
  const stream = new PassThrough();
  for (const chunk of chunks) stream.write(chunk);
  return stream;
};

it('a payload is read whole; what is no object has nothing in it', async () => {
  const ö = Buffer.from('ö');
  expect(await payloadFrom(given('{"a":"', ö.subarray(0, 1), ö.subarray(1), '"}').end())).toEqual({ a: 'ö' });
  expect(await payloadFrom(given('[1]').end())).toEqual({});
});

it('one that is broken, too large or never ends is said to be so, and not waited for', async () => {
  expect(await payloadFrom(given('{"a":').end())).toBe('the payload is no JSON');
  expect(await payloadFrom(given('{"a":1}'), 20)).toBe('the payload did not come to its end');
  expect(await payloadFrom(given(Buffer.alloc(65 * 1024 * 1024)))).toBe('the payload is larger than 64 MiB');
});
