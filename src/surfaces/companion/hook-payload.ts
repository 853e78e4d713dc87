import type { Readable } from 'node:stream';
import { recordOf } from '../../clients/hook-payload.ts';

/** A payload holds what a tool has read or will write. */
const LARGEST = 64 * 1024 * 1024;
/** The agent waits, and its program has all of it when it starts the hook. */
const TIMEOUT_MS = 5_000;

/** What is wrong with it, or the payload. */
export async function payloadFrom(stream: Readable, timeoutMs = TIMEOUT_MS): Promise<string | Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => stream.destroy(), timeoutMs);
  try {
    for await (const chunk of stream) {
      size += (chunk as Buffer).length;
      if (size > LARGEST) return `the payload is larger than ${LARGEST / 1024 / 1024} MiB`;
      chunks.push(chunk as Buffer);
    }
  } catch {
    return 'the payload did not come to its end';
  } finally {
    clearTimeout(timer);
  }
  try {
    return recordOf(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  } catch {
    return 'the payload is no JSON';
  }
}
