import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** A plan of 10,000 tasks must fit. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Nobody is left to answer, and it is no fault of ours. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export type BodyProblem = 'too-large' | 'not-utf8' | 'not-json';
export type Body = { value: unknown } | { problem: BodyProblem };

/** The request's JSON, read from the socket under one bound whatever the surface. An empty body is `undefined`. */
export async function readJsonBody(incoming: IncomingMessage, most: number = MAX_BODY_BYTES): Promise<Body> {
  const bytes = await readBytes(incoming, most);
  if (!bytes) return { problem: 'too-large' };
  if (bytes.length === 0) return { value: undefined };
  if (!isUtf8(bytes)) return { problem: 'not-utf8' };
  try {
    return { value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return { problem: 'not-json' };
  }
}

/** What is still read of a body that is too large, so that the client, which is busy sending, gets to read the refusal. */
const MAX_DRAINED_BYTES = 4 * MAX_BODY_BYTES;

function readBytes(incoming: IncomingMessage, most: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const tooLarge = () => {
      chunks.length = 0;
      resolve(undefined);
    };
    if (Number(incoming.headers['content-length'] ?? 0) > most) tooLarge();
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_DRAINED_BYTES) incoming.destroy();
      else if (size > most) tooLarge();
      else chunks.push(chunk);
    });
    incoming.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    incoming.once('error', (error) => reject(incoming.readableAborted ? new ClientGone('the client went away', { cause: error }) : error));
    incoming.once('aborted', () => reject(new ClientGone('the client went away')));
  });
}
