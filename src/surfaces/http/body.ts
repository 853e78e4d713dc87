import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type JsonBounds, jsonProblem } from './json-bounds.ts';

/** What `body_bytes` of `[limits]` is unless the operator says otherwise: a plan of 10,000 tasks must fit. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Nobody is left to answer, and it is no fault of ours. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export type BodyProblem =
  | { readonly kind: 'too-large'; readonly maxBytes: number }
  | { readonly kind: 'too-deep' | 'too-many-nodes' | 'not-utf8' | 'not-json' | 'busy' };
export type Body = { value: unknown; bytes: number } | { problem: BodyProblem };

/** Who may send how much, and out of which share of the server's memory it is read. */
export interface BodyBounds extends JsonBounds {
  readonly maxBytes: number;
  readonly share: ReadingShare;
}

/** A part of the bytes that may be in memory because bodies are being read and parsed. */
export class ReadingShare {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#most) return false;
    this.#taken += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
  }
}

/** The request's JSON, read from the socket under one set of bounds whatever the surface. An empty body is `undefined`. */
export async function readJsonBody(incoming: IncomingMessage, bounds: BodyBounds): Promise<Body> {
  const read = await readBytes(incoming, bounds);
  if ('problem' in read) return read;
  const { bytes } = read;
  try {
    if (bytes.length === 0) return { value: undefined, bytes: 0 };
    if (!isUtf8(bytes)) return { problem: { kind: 'not-utf8' } };
    const problem = jsonProblem(bytes, bounds);
    return problem ? { problem: { kind: problem } } : { value: JSON.parse(bytes.toString('utf8')), bytes: bytes.length };
  } catch {
    return { problem: { kind: 'not-json' } };
  } finally {
    bounds.share.giveBack(bytes.length);
  }
}

/** Counted by what has come, not by what was announced: a sender that announces much and sends nothing takes nothing. */
function readBytes(incoming: IncomingMessage, { maxBytes, share }: BodyBounds): Promise<{ bytes: Buffer } | { problem: BodyProblem }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isOver = false;
    const over = () => {
      isOver = true;
      chunks.length = 0;
      share.giveBack(size);
      size = 0;
    };
    const refuse = (problem: BodyProblem) => {
      over();
      resolve({ problem });
    };
    incoming.on('data', (chunk: Buffer) => {
      if (isOver) return;
      if (size + chunk.length > maxBytes) refuse({ kind: 'too-large', maxBytes });
      else if (!share.take(chunk.length)) refuse({ kind: 'busy' });
      else {
        size += chunk.length;
        chunks.push(chunk);
      }
    });
    incoming.once('end', () => {
      if (!isOver) resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) });
      isOver = true;
    });
    const gone = (cause?: Error) => {
      if (isOver) return;
      over();
      reject(new ClientGone('the client went away', { cause }));
    };
    incoming.once('error', gone);
    incoming.once('aborted', () => gone());
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) refuse({ kind: 'too-large', maxBytes });
  });
}
