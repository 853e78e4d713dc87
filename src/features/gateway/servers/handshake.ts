import { Client, type Transport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { ServerEntry } from './entry.ts';
import { refusesInitialize } from './failures.ts';

/** From this revision on, servers are called without `initialize`. */
const MODERN = '2026-07-28';
/** The caller's signal limits the duration of a request instead. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** For older-revision servers, which get one set of capabilities for all callers. Newer ones get each caller's own. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** A child's transport has its process id and the reason of its end. */
export type UpstreamTransport = Transport & { readonly pid?: number | null; readonly closedBecause?: string | null };

/** How the child exited, as a sentence. Undefined if it still runs or Covenant stopped it. */
export function exitReason({ closedBecause }: UpstreamTransport): string | undefined {
  return closedBecause && closedBecause !== 'was stopped' ? `It ${closedBecause}${/[.!?…]$/.test(closedBecause) ? '' : '.'}` : undefined;
}

export interface HandshakeOptions {
  readonly entry: ServerEntry;
  /** Covenant's own version. */
  readonly version: string;
  /** Creates a new transport on each call. */
  readonly transport: () => UpstreamTransport;
  /** Runs before the first message. */
  readonly prepare: (client: Client) => void;
  readonly signal: AbortSignal;
}

export interface ConnectedClient {
  readonly client: Client;
  readonly transport: UpstreamTransport;
}

/**
 * A child gets `initialize` first, and `server/discover` only if it rejects that as unsupported, in a new process: many programs exit at
 * an unknown first message. Over HTTP the order is reversed, because there an unknown message is simply rejected.
 */
export async function shakeHands(options: HandshakeOptions): Promise<ConnectedClient> {
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

async function attempt({ version, transport: open, prepare, signal }: HandshakeOptions, mode: VersionNegotiationMode): Promise<ConnectedClient> {
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
    const end = exitReason(transport);
    await close();
    throw signal.aborted ? signal.reason : end ? new Error(end) : error;
  } finally {
    signal.removeEventListener('abort', close);
  }
}
