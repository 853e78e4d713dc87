import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { countJson, type JsonBounds } from './json-bounds.ts';
import type { KeyedShare } from './keyed-share.ts';

/** What `body_bytes` of `[limits]` is unless the operator says otherwise: a plan of 10,000 tasks must fit. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Nobody is left to answer, and it is no fault of ours. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export type BodyProblem =
  | { readonly kind: 'too-large'; readonly maxBytes: number }
  | { readonly kind: 'too-deep' | 'too-many-nodes' | 'not-utf8' | 'not-json' | 'busy' | 'stalled' };
export type Body = { value: unknown; bytes: number; nodes: number } | { problem: BodyProblem };

/** Who sends it, how much that may be, and out of which shares of the server's memory it is read. */
export interface BodyBounds extends JsonBounds {
  readonly key: string;
  readonly maxBytes: number;
  /** A body that stops coming holds its memory no longer. */
  readonly stalled_seconds: number;
  /** For the first part of every body, so that large bodies of others never keep out a small one. */
  readonly small: KeyedShare;
  readonly large: KeyedShare;
}

/** What counts as small: nearly every call. */
export const SMALL_BYTES = 64 * 1024;
/** What one body holds of both shares. */
class Holding {
  readonly #bounds: BodyBounds;
  #small = 0;
  #large = 0;

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#small + this.#large;
  }

  add(bytes: number): boolean {
    const { key, small, large } = this.#bounds;
    const first = Math.min(bytes, SMALL_BYTES - this.#small);
    if (!small.take(key, first)) return false;
    this.#small += first;
    if (!large.take(key, bytes - first)) return false;
    this.#large += bytes - first;
    return true;
  }

  giveBack(): void {
    this.#bounds.small.giveBack(this.#bounds.key, this.#small);
    this.#bounds.large.giveBack(this.#bounds.key, this.#large);
    this.#small = 0;
    this.#large = 0;
  }
}

/** The request's JSON, read from the socket under one set of bounds whatever the surface. An empty body is `undefined`. */
export async function readJsonBody(incoming: IncomingMessage, bounds: BodyBounds): Promise<Body> {
  const holding = new Holding(bounds);
  try {
    const read = await readBytes(incoming, bounds, holding);
    return 'problem' in read ? read : parsed(read.bytes, bounds);
  } finally {
    holding.giveBack();
  }
}

function parsed(bytes: Buffer, bounds: JsonBounds): Body {
  if (bytes.length === 0) return { value: undefined, bytes: 0, nodes: 0 };
  if (!isUtf8(bytes)) return { problem: { kind: 'not-utf8' } };
  const counted = countJson(bytes, bounds);
  if (typeof counted === 'string') return { problem: { kind: counted } };
  try {
    return { value: JSON.parse(bytes.toString('utf8')), bytes: bytes.length, nodes: counted };
  } catch {
    return { problem: { kind: 'not-json' } };
  }
}

/** Counted by what has come, not by what was announced: a sender that announces much and sends nothing takes nothing. */
function readBytes(
  incoming: IncomingMessage,
  { maxBytes, stalled_seconds }: BodyBounds,
  holding: Holding,
): Promise<{ bytes: Buffer } | { problem: BodyProblem }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let isOver = false;
    const end = () => {
      isOver = true;
      clearTimeout(stalled);
    };
    const refuse = (problem: BodyProblem) => {
      end();
      chunks.length = 0;
      resolve({ problem });
    };
    const stalled = setTimeout(() => refuse({ kind: 'stalled' }), stalled_seconds * 1_000);
    incoming.on('data', (chunk: Buffer) => {
      if (isOver) return;
      stalled.refresh();
      if (holding.bytes + chunk.length > maxBytes) refuse({ kind: 'too-large', maxBytes });
      else if (!holding.add(chunk.length)) refuse({ kind: 'busy' });
      else chunks.push(chunk);
    });
    incoming.once('end', () => {
      if (!isOver) resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) });
      end();
    });
    const gone = (cause?: Error) => {
      if (!isOver) reject(new ClientGone('the client went away', { cause }));
      end();
    };
    incoming.once('error', gone);
    incoming.once('aborted', () => gone());
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) refuse({ kind: 'too-large', maxBytes });
  });
}
