import { Client, type Transport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { ServerEntry } from './entry.ts';
import { refusesInitialize } from './failures.ts';

/** The first protocol revision in which servers are called without `initialize`. */
const MODERN = '2026-07-28';
/** Switches off the SDK's own timeout, because the caller's signal limits the duration of a request. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** The capabilities for servers with the older revision, which are the same for all callers. Newer servers get the capabilities of each caller. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** The transport of a child process also has the process id and the reason why the process ended. */
export type UpstreamTransport = Transport & { readonly pid?: number | null; readonly closedBecause?: string | null };

/** A sentence that says how the child process ended. Undefined if it is still running or if Covenant stopped it. */
export function exitReason({ closedBecause }: UpstreamTransport): string | undefined {
  return closedBecause && closedBecause !== 'was stopped' ? `It ${closedBecause}${/[.!?…]$/.test(closedBecause) ? '' : '.'}` : undefined;
}

export interface HandshakeOptions {
  readonly entry: ServerEntry;
  /** Covenant's version, which is sent to the server. */
  readonly version: string;
  /** Creates a new transport on each call. */
  readonly transport: () => UpstreamTransport;
  /** Called before the first message is sent. */
  readonly prepare: (client: Client) => void;
  readonly signal: AbortSignal;
}

export interface ConnectedClient {
  readonly client: Client;
  readonly transport: UpstreamTransport;
}

/**
 * Finds out which protocol revision a server supports. A child process gets `initialize` first. If the program rejects it as unsupported, a
 * new process of it gets `server/discover`. Many programs exit if they do not know the first message, so the older message comes first. Over
 * HTTP the order is reversed, because an HTTP server simply rejects an unknown message.
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
