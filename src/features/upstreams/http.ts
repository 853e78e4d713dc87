import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { withBoundedBody } from './bounded-body.ts';
import type { HttpEntry } from './entry.ts';

const GOODBYE_MS = 1_000;

/** A server reached over Streamable HTTP, with the headers of its entry. */
export class HttpTransport extends StreamableHTTPClientTransport {
  constructor(entry: HttpEntry) {
    super(new URL(entry.url), { requestInit: { headers: { ...entry.headers } }, fetch: boundedFetch });
  }

  /** Ends the session on the other side, where there is one, and every stream that is open. */
  override async close(): Promise<void> {
    if (this.sessionId !== undefined) {
      const goodbye = this.terminateSession().catch(() => {});
      await Promise.race([goodbye, new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref())]);
    }
    await super.close();
  }
}

/** The transport has one signal for its whole life. `fetch` would leave a listener on it with every request. */
const boundedFetch: typeof fetch = async (url, init) =>
  withBoundedBody(await fetch(url, init?.signal ? { ...init, signal: AbortSignal.any([init.signal]) } : init));
