import { type JSONRPCMessage, type RequestId, StreamableHTTPClientTransport, type TransportSendOptions } from '@modelcontextprotocol/client';
import { withBoundedBody } from './bounded-body.ts';
import type { HttpEntry } from './entry.ts';
import { brokenAnswer } from './json-rpc.ts';

const GOODBYE_MS = 1_000;
/** A server may choose how long to wait before a closed stream is opened again. The time is kept within these limits. */
const REOPEN_MS = { least: 500, most: 60_000 };

/** A transport over Streamable HTTP. It sends the headers of the server's entry. */
export class HttpTransport extends StreamableHTTPClientTransport {
  /** The ids of the requests that have no answer yet. */
  readonly #unanswered = new Set<RequestId>();

  constructor(entry: HttpEntry) {
    super(new URL(entry.url), { requestInit: { headers: { ...entry.headers } }, fetch: boundedFetch, reconnectionScheduler: reopenLater });
    // The client adds its own handler, which runs after this one.
    this.onmessage = (message) => {
      if (!('method' in message) && message.id !== undefined) this.#unanswered.delete(message.id);
    };
  }

  /** Sends a message. If the stream of a request ends without an answer, the request gets an error, because no answer can follow. */
  override async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (!('method' in message)) return await super.send(message, options);
    if (message.method === 'notifications/cancelled') this.#unanswered.delete(message.params?.requestId as RequestId);
    // Requests with a string id are probes and subscriptions of the SDK, which handles the end of their streams itself.
    if (!('id' in message) || typeof message.id === 'string') return await super.send(message, options);
    const { id } = message;
    this.#unanswered.add(id);
    options.requestSignal?.addEventListener('abort', () => this.#unanswered.delete(id), { once: true });
    const onRequestStreamEnd = () => {
      if (this.#unanswered.delete(id)) this.onmessage?.(brokenAnswer(id));
    };
    try {
      await super.send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      this.#unanswered.delete(id);
      throw error;
    }
  }

  /** Ends the session on the server, if there is one, and closes all open streams. */
  override async close(): Promise<void> {
    if (this.sessionId !== undefined) {
      const goodbye = this.terminateSession().catch(() => {});
      await Promise.race([goodbye, new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref())]);
    }
    await super.close();
  }
}

/** Gives each request its own signal. The transport has one signal for its whole life, and each `fetch` would leave a listener on it. */
const boundedFetch: typeof fetch = async (url, init) =>
  withBoundedBody(await fetch(url, init?.signal ? { ...init, signal: AbortSignal.any([init.signal]) } : init));

function reopenLater(reopen: () => void, wantedMs: number): () => void {
  const timer = setTimeout(reopen, Math.min(Math.max(wantedMs, REOPEN_MS.least), REOPEN_MS.most)).unref();
  return () => clearTimeout(timer);
}
