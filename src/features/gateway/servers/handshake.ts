import { Client, type JSONRPCMessage, type RequestId, type Transport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { isRecord } from '../../../kernel/registry.ts';
import type { ServerEntry } from './configured.ts';
import { refusesInitialize } from './failures.ts';

/** The revision from which on a server is spoken with request by request, without `initialize`. */
const MODERN = '2026-07-28';
/** How long anything may take is decided by whoever asks, by its signal. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** To servers of the older revisions, which hear of it once for all callers. Those of the newer hear each caller's own. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** A transport to a child knows its process, and how that ended. */
export type UpstreamTransport = Transport & { readonly pid?: number | null; readonly closedBecause?: string | null };

/** Undefined: it has not, or we have ended it. */
export function endOf({ closedBecause }: UpstreamTransport): string | undefined {
  return closedBecause && closedBecause !== 'was stopped' ? `It ${closedBecause}${/[.!?…]$/.test(closedBecause) ? '' : '.'}` : undefined;
}

export interface HandshakeOptions {
  readonly entry: ServerEntry;
  /** Covenant's own. */
  readonly version: string;
  /** A fresh one with every call. */
  readonly transport: () => UpstreamTransport;
  /** Sees the client before anything is said. */
  readonly prepare: (client: Client) => void;
  readonly signal: AbortSignal;
}

export interface Shaken {
  readonly client: Client;
  readonly transport: UpstreamTransport;
}

/**
 * A child is told `initialize` first, and asked by `server/discover` only where it refuses that as unsupported, in a fresh process: many end at
 * an unknown first message. Over HTTP it is the other way round, because there an unknown message is simply refused.
 */
export async function shakeHands(options: HandshakeOptions): Promise<Shaken> {
  const { protocol, transport } = options.entry;
  if (protocol === 'legacy') return await attempt(options, 'legacy');
  if (protocol === 'modern') return await attempt(options, { pin: MODERN });
  if (transport.kind === 'http') return await attempt(options, 'auto');
  try {
    return await attempt(options, 'legacy');
  } catch (error) {
    if (!refusesInitialize(error)) throw error;
    return await attempt(options, { pin: MODERN });
  }
}

async function attempt({ version, transport: open, prepare, signal }: HandshakeOptions, mode: VersionNegotiationMode): Promise<Shaken> {
  signal.throwIfAborted();
  const client = new Client({ name: 'covenant', version }, { capabilities: CAPABILITIES, versionNegotiation: { mode }, inputRequired: { autoFulfill: false } });
  prepare(client);
  const transport = open();
  const close = () => transport.close().catch(() => {});
  signal.addEventListener('abort', close, { once: true });
  try {
    await client.connect(transport, { timeout: NO_TIMEOUT_MS });
    signal.throwIfAborted();
    return { client, transport };
  } catch (error) {
    const end = endOf(transport);
    await close();
    throw signal.aborted ? signal.reason : end ? new Error(end) : error;
  } finally {
    signal.removeEventListener('abort', close);
  }
}

/** One line of a server's output as the messages in it, or why it is none. */

export type JsonRpcAnswer = JSONRPCMessage & { readonly id: RequestId };
export type Received =
  | { readonly kind: 'answer'; readonly message: JsonRpcAnswer }
  | { readonly kind: 'request' | 'notification'; readonly message: JSONRPCMessage };

/** In the `data` of an error that is ours and not the server's: its own answer was no answer, or it has ended without one. */
export const MALFORMED_ANSWER = 'malformed_answer';
export const BROKEN_ANSWER = 'broken_answer';
/** Larger ones are no batch that anybody sends in earnest, and would be dispatched in one go. */
const MAX_BATCH = 100;

export function readMessages(line: string): Received[] | string {
  // A look at the first character is a hundred times cheaper than an error thrown by the parser.
  if (!/^\s*[[{]/.test(line)) return 'not JSON';
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'not JSON';
  }
  // One revision of the protocol (2025-03-26) has batches.
  if (Array.isArray(value) && value.length > MAX_BATCH) return `a batch of ${value.length} messages`;
  const understood = (Array.isArray(value) ? value : [value]).map(readMessage).filter((message) => message !== undefined);
  return understood.length > 0 ? understood : 'not a JSON-RPC message';
}

function readMessage(value: unknown): Received | undefined {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
  const { id, method } = value;
  const message = value as JSONRPCMessage;
  if (method !== undefined) {
    if (typeof method !== 'string' || (value.params !== undefined && !isRecord(value.params))) return undefined;
    if (id === undefined) return { kind: 'notification', message };
    return isId(id) ? { kind: 'request', message } : undefined;
  }
  if (!isId(id)) return undefined;
  return { kind: 'answer', message: isAnswer(value) ? (message as JsonRpcAnswer) : malformed(id) };
}

/** Whoever waits for it is told at once instead of after its whole time. */
const malformed = (id: RequestId): JsonRpcAnswer => ours(id, MALFORMED_ANSWER, 'The server answered with something that is neither a result nor an error');
export const broken = (id: RequestId): JsonRpcAnswer => ours(id, BROKEN_ANSWER, 'The server ended its answer before it was complete');

const ours = (id: RequestId, reason: string, message: string): JsonRpcAnswer => ({ jsonrpc: '2.0', id, error: { code: -32_603, message, data: { reason } } });

function isAnswer({ result, error }: Record<string, unknown>): boolean {
  if (error === undefined) return isRecord(result);
  return result === undefined && isRecord(error) && Number.isInteger(error.code) && typeof error.message === 'string';
}

const isId = (id: unknown): id is RequestId => typeof id === 'string' || Number.isInteger(id);
