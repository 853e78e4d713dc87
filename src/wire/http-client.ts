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
 * What small programs ask a server with: `fetch` takes 40 ms to load, which is more than they take themselves. So would an `import` of
 * node:http, which reads every export of it, and one of these is `fetch`'s own client.
 */
const load = createRequire(import.meta.url);

/** More than any server of ours says at once. */
const LARGEST_ANSWER = 64 * 1024 * 1024;

/**
 * Follows no redirect: it would take the token elsewhere. Rejects with the system's error, which has a `code`, where no whole answer comes, and
 * with what the signal says, or an `AbortError`, where that came first.
 */
export async function httpRequest(url: string, { method, headers, body, signal }: HttpQuestion): Promise<HttpAnswer> {
  const { request: open } = load(url.startsWith('https:') ? 'node:https' : 'node:http') as { request: typeof request };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    open(url, { method, headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) }, signal }, resolve)
      .on('error', reject)
      // Without anybody who hears of it nothing more would come, not even an error.
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

/** The system's word for what went wrong. Only that: a message could quote what was sent. */
export function failureCode(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
