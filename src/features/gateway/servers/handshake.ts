import { Client, type Transport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { ServerEntry } from './entry.ts';
import { refusesInitialize } from './failures.ts';

/** The revision from which on a server is spoken with request by request, without `initialize`. */
const MODERN = '2026-07-28';
/** The caller's signal decides how long a request may take. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** For servers of the older revisions, which are told once for all callers. Servers of the newer one get each caller's own. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** A transport to a child knows its process, and how that ended. */
export type UpstreamTransport = Transport & { readonly pid?: number | null; readonly closedBecause?: string | null };

/** How the child ended, as a sentence; undefined if it has not ended, or we have ended it. */
export function exitReason({ closedBecause }: UpstreamTransport): string | undefined {
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

export interface ConnectedClient {
  readonly client: Client;
  readonly transport: UpstreamTransport;
}

/**
 * A child is told `initialize` first, and asked by `server/discover` only where it refuses that as unsupported, in a fresh process: many end at
 * an unknown first message. Over HTTP it is the other way round, because there an unknown message is simply refused.
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
