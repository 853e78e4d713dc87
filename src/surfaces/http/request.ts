import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { NODE_BYTES } from '../../config.ts';
import type { CallerPlace } from '../../kernel/call.ts';
import { networkTest } from '../../kernel/network.ts';
import { withoutCredentials } from '../../kernel/repo.ts';
import type { App } from '../../main.ts';
import { PLACE_HEADER, PROOF_HEADER, REPOSITORY_HEADER } from '../../wire/headers.ts';
import { parseJson, recordIn } from '../../wire/json.ts';
import { LONGEST_HEADER } from '../../wire/limits.ts';
import { isThisMachine } from '../origin.ts';
import type { KeyedShare } from './entrance.ts';

/** Returns the name of the sign-in cookie. It contains the port, because all ports of a host share its cookies, and each server needs its own cookie. */
export const cookieName = (port: number): string => `covenant_${port}`;

export function bearer(incoming: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/i.exec(incoming.headers.authorization ?? '')?.[1];
}

/** The maximum number of cookies with the same name. Only an attacker sends more. */
const MAX_COOKIES = 4;

export function cookies(incoming: IncomingMessage, name: string): string[] {
  const pairs = (incoming.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  return pairs.flatMap(([key, value]) => (key === name && value !== undefined ? [value] : [])).slice(0, MAX_COOKIES);
}

/**
 * Returns the origin of the server, as the caller sees it. If an entry in `allowed_origins` has the host that was called, that entry is the origin. Otherwise
 * the origin is built from the Host header, which the guard has already checked.
 */
export function originOf({ config }: App, { headers }: IncomingMessage): string {
  const host = headers.host?.toLowerCase() ?? '';
  return config.allowed_origins.find((origin) => URL.canParse(origin) && new URL(origin).host === host) ?? `http://${host}`;
}

export const proofOf = ({ headers }: IncomingMessage): string | undefined => {
  const sent = headers[PROOF_HEADER];
  return typeof sent === 'string' ? sent : undefined;
};

export const ticketOf = ({ url }: IncomingMessage): string | undefined => URL.parse(url ?? '/', 'http://localhost')?.searchParams.get('ticket') ?? undefined;

/** Returns the path of a request for logs and the journal. It never contains the query or a sign-in code, even if the path was percent-encoded. */
export function pathOf(incoming: IncomingMessage): string {
  const path = (incoming.url ?? '').replace(/^[a-z]+:\/\/[^/?]*/i, '').split('?', 1)[0] ?? '';
  const spelled = path.replace(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return /\/signin\//i.test(spelled) ? '/signin' : path.slice(0, 200);
}

/** Converts an IPv4 address in IPv6 notation to IPv4. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Returns the address at the other end of the connection, which can be the address of a proxy. */
export const peerOf = (incoming: IncomingMessage): string => plainAddress(incoming.socket.remoteAddress ?? 'unknown');

/**
 * Creates a function that returns the address of the sender. If the peer is a trusted proxy, the sender is the last address in `X-Forwarded-For` that is not
 * a trusted proxy. The addresses before it are ignored, because the caller may have invented them.
 */
export function createSourceOf(trustedProxies: readonly string[]): (incoming: IncomingMessage) => string {
  if (trustedProxies.length === 0) return peerOf;
  const isTrusted = networkTest(trustedProxies);
  return (incoming) => {
    let source = peerOf(incoming);
    const hops = String(incoming.headers['x-forwarded-for'] ?? '').split(',');
    while (isTrusted(source)) {
      const hop = addressIn(hops.pop() ?? '');
      if (hop === undefined) break;
      source = hop;
    }
    return source;
  };
}

/** Parses an address in the header. Removes the port, which some proxies append. Returns undefined if the address is invalid. */
function addressIn(hop: string): string | undefined {
  const text = hop.trim();
  const [, bare = text] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  return isIP(bare) === 0 ? undefined : plainAddress(bare);
}

/**
 * The headers that proxies add. If a tunnel adds none of them and uses a local host name, its requests cannot be distinguished from those of a local program.
 */
const ADDED_BY_PROXIES = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

const isLoopback = (address: string): boolean => address === '::1' || /^(::ffff:)?127\./.test(address);

/**
 * Returns whether a request was sent by a program on this machine. The address and
 * the Host must be local, and no header may show that a proxy forwarded the request.
 */
export function isFromHere(address: string, headers: IncomingHttpHeaders): boolean {
  const called = `http://${headers.host}`;
  return isLoopback(address) && URL.canParse(called) && isThisMachine(called) && !ADDED_BY_PROXIES.some((name) => name in headers);
}

/** Reads the headers that place-headers.ts writes. A field without a usable value is undefined, and the call must then name the repository itself. */
export function readReportedPlace(header: (name: string) => string | undefined): { repository: string | undefined; place: CallerPlace | undefined } {
  return { repository: pathFromHeader(header(REPOSITORY_HEADER)), place: placeFromHeader(header(PLACE_HEADER)) };
}

const LONGEST_PATH = 1_000;
const LONGEST_NAME = 300;

export function pathFromHeader(value: string | undefined): string | undefined {
  const path = decoded(value);
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

function placeFromHeader(value: string | undefined): CallerPlace | undefined {
  if (value === undefined || value.length > LONGEST_HEADER) return undefined;
  const { folder, repo, branch } = recordIn(parseJson(decoded(value) ?? ''));
  if (typeof folder !== 'string' || !isAbsolute(folder)) return undefined;
  const remote = nameFrom(repo);
  return { folder, repo: remote && withoutCredentials(remote), branch: nameFrom(branch) };
}

function nameFrom(value: unknown): string | null {
  const name = typeof value === 'string' ? value.trim() : '';
  return name !== '' && name.length <= LONGEST_NAME && !/\p{Cc}/u.test(name) ? name : null;
}

const isAbsolute = (path: string): boolean => path.length <= LONGEST_PATH && /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path) && !/\p{Cc}/u.test(path);

function decoded(value: string | undefined): string | undefined {
  try {
    return value ? decodeURIComponent(value) : undefined;
  } catch {
    return undefined;
  }
}

export interface JsonBounds {
  readonly json_depth: number;
  readonly json_nodes: number;
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}') as unknown as number[];

/**
 * Counts the values in JSON, or returns the bound that they exceed. It reads the bytes without parsing them,
 * because a parsed value can need much more memory than its text. A parsed `{}` needs twenty times its two
 * bytes, so 8 MiB of `{}` must be refused before parsing. The parser later rejects text that is not JSON.
 */
export function countJson(bytes: Buffer, { json_depth, json_nodes }: JsonBounds): number | 'too-deep' | 'too-many-nodes' {
  let depth = 0;
  let nodes = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) nodes++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      nodes++;
      if (++depth > json_depth) return 'too-deep';
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    if (nodes > json_nodes) return 'too-many-nodes';
  }
  return nodes;
}

/** Returns the position of the quote that ends the string at `start`. If there is none, returns the end of the bytes. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = start; ; ) {
    end = bytes.indexOf(QUOTE as number, end + 1);
    if (end < 0) return bytes.length;
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

/** The client disconnected before its body was complete. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export type BodyProblem =
  | { readonly kind: 'too-large'; readonly maxBytes: number }
  | { readonly kind: 'too-deep' | 'too-many-nodes' | 'not-utf8' | 'not-json' | 'busy' | 'stalled' };
/** `memory`: the approximate size of the parsed value in bytes. */
export type RequestBody = { value: unknown; memory: number } | { problem: BodyProblem };

/** The limits of a body, the key of its sender, and the shares from which its memory is taken. */
export interface BodyBounds extends JsonBounds {
  readonly key: string;
  readonly maxBytes: number;
  /** If no data arrives for this time, the body is refused and its memory released. */
  readonly stalled_seconds: number;
  /** The memory for the first part of every body, so that large bodies of other callers never block a small body. */
  readonly small: KeyedShare;
  readonly large: KeyedShare;
}

/** A body up to this size counts as small. Nearly every call is smaller. */
export const SMALL_BYTES = 64 * 1024;
/** The memory that one body takes from both shares. */
class BodyMemory {
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

/** Reads the JSON body of a request. The bounds are the same for every surface. The value of an empty body is `undefined`. */
export async function readJsonBody(incoming: IncomingMessage, bounds: BodyBounds): Promise<RequestBody> {
  const holding = new BodyMemory(bounds);
  try {
    const read = await readBytes(incoming, bounds, holding);
    return 'problem' in read ? read : parsed(read.bytes, bounds);
  } finally {
    holding.giveBack();
  }
}

function parsed(bytes: Buffer, bounds: JsonBounds): RequestBody {
  if (bytes.length === 0) return { value: undefined, memory: 0 };
  if (!isUtf8(bytes)) return { problem: { kind: 'not-utf8' } };
  const counted = countJson(bytes, bounds);
  if (typeof counted === 'string') return { problem: { kind: counted } };
  try {
    return { value: JSON.parse(bytes.toString('utf8')), memory: bytes.length + NODE_BYTES * counted };
  } catch {
    return { problem: { kind: 'not-json' } };
  }
}

/**
 * Reads the bytes of a body. Reserves memory only for bytes that have arrived, so that a sender who announces a large body and sends nothing uses no memory.
 */
function readBytes(
  incoming: IncomingMessage,
  { maxBytes, stalled_seconds }: BodyBounds,
  holding: BodyMemory,
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
      if (!isOver) reject(new ClientGone('the client disconnected', { cause }));
      end();
    };
    incoming.once('error', gone);
    incoming.once('aborted', () => gone());
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) refuse({ kind: 'too-large', maxBytes });
  });
}
