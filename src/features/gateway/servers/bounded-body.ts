import { setTimeout as wait } from 'node:timers/promises';

/** The maximum size of an answer or of a stream event. The same limit applies to a message of a child process. */
const MAX_BYTES = 16 * 1024 * 1024;
/**
 * A stream may send an initial burst, and after that a number of bytes per second. An event counts as at least `LEAST_PER_EVENT` bytes, because
 * even a small event takes time to handle.
 */
const BURST_BYTES = 2 * MAX_BYTES;
const BYTES_PER_SECOND = 1024 * 1024;
const LEAST_PER_EVENT = 4 * 1024;
const NEWLINE = 10;
const RETURN = 13;

/**
 * Limits the body of a response. If a body is larger than the limit, reading it fails at that point. A stream may be endless, but it is read only
 * at a rate that leaves time for other work. A server that sends faster has to wait.
 */
export function withBoundedBody(response: Response, maxBytes = MAX_BYTES): Response {
  const { body, headers, status, statusText } = response;
  // The content-length of a compressed body is ignored, because the content may be much larger.
  const length = Number((!headers.has('content-encoding') && headers.get('content-length')) || Number.NaN);
  if (!body || length <= maxBytes) return response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  let size = 0;
  let allowance = BURST_BYTES;
  let allowedAt = performance.now();
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      const { count, end } = isStream ? eventsIn(chunk) : { count: 0, end: 0 };
      size = count === 0 ? size + chunk.length : chunk.length - end;
      if (size > maxBytes) return controller.error(new Error(`it sent more than ${maxBytes} bytes in one answer`));
      controller.enqueue(chunk);
      if (!isStream) return;
      const now = performance.now();
      allowance = Math.min(BURST_BYTES, allowance + ((now - allowedAt) / 1000) * BYTES_PER_SECOND) - Math.max(chunk.length, count * LEAST_PER_EVENT);
      allowedAt = now;
      if (allowance < 0) await wait((-allowance / BYTES_PER_SECOND) * 1000, undefined, { ref: false });
    },
  });
  return new Response(body.pipeThrough(bounded), { status, statusText, headers });
}

/**
 * Counts the empty lines, because each one ends an event. An empty line across two chunks is not found, which only makes the limit a little stricter.
 */
function eventsIn(chunk: Uint8Array): { count: number; end: number } {
  let count = 0;
  let end = 0;
  for (let at = 1; at < chunk.length; at++) {
    const byte = chunk[at];
    if (byte !== NEWLINE && byte !== RETURN) continue;
    if (chunk[at - 1] !== byte && !(byte === NEWLINE && chunk[at - 1] === RETURN && chunk[at - 2] === NEWLINE)) continue;
    count++;
    end = at + 1;
  }
  return { count, end };
}
