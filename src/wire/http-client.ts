import type { IncomingHttpHeaders, IncomingMessage, request } from 'node:http';
import { createRequire } from 'node:module';

export interface HttpQuestion {
  readonly method: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * The HTTP client of small programs. `fetch` takes 40 ms to load, more than these programs need themselves. An `import` of node:http would load it
 * too, because it evaluates every export, including `fetch`'s own client.
 */
const load = createRequire(import.meta.url);

/** More than any of our servers sends in one answer. */
const LARGEST_ANSWER = 64 * 1024 * 1024;

/**
 * Follows no redirect, which would send the token elsewhere. Rejects with the system's error and its `code` if no complete answer arrives, or with
 * the signal's reason or an `AbortError` if that comes first.
 */
export async function httpRequest(url: string, { method, headers, body, signal }: HttpQuestion): Promise<HttpAnswer> {
  const { request: open } = load(url.startsWith('https:') ? 'node:https' : 'node:http') as { request: typeof request };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    open(url, { method, headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) }, signal }, resolve)
      .on('error', reject)
      // Without a listener nothing more would arrive, not even an error.
      .on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response);
      })
      .end(body);
  });
  response.setEncoding('utf8');
  let text = '';
  try {
    for await (const part of response) {
      text += part;
      if (text.length > LARGEST_ANSWER) throw Object.assign(new Error('The answer is too large.'), { code: 'ERR_ANSWER_TOO_LARGE' });
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** The system's error code. Nothing else: a message could quote the request. */
export function failureCode(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
