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
 * Loads the HTTP client for small programs. They do not use `fetch`, because it takes 40 ms to load, which is longer than the
 * rest of these programs takes. They do not `import` node:http either, because an import evaluates every export of the module,
 * including the client of `fetch`.
 */
const load = createRequire(import.meta.url);

/** More than a Covenant server sends in one answer. */
const LARGEST_ANSWER = 64 * 1024 * 1024;

/**
 * Sends an HTTP request. Does not follow redirects, because that would send the token to another address. If no complete answer
 * arrives, rejects with the system's error and its `code`. If the signal aborts first, rejects with the signal's reason or an
 * `AbortError`.
 */
export async function httpRequest(url: string, { method, headers, body, signal }: HttpQuestion): Promise<HttpAnswer> {
  const { request: open } = load(url.startsWith('https:') ? 'node:https' : 'node:http') as { request: typeof request };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    open(url, { method, headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) }, signal }, resolve)
      .on('error', reject)
      // If the server switches protocols and there is no listener, neither an answer nor an error arrives.
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

/** Returns only the system's error code, because the error message could quote the request. */
export function failureCode(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
