import { setTimeout as wait } from 'node:timers/promises';

/** The limit of one answer or one stream event, which is the same as for a message of a child. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The limits of a stream: an initial burst, then bytes per second. Every event counts as a minimum size, because each is handled separately. */
const BURST_BYTES = 2 * MAX_BYTES;
const BYTES_PER_SECOND = 1024 * 1024;
const LEAST_PER_EVENT = 4 * 1024;
const NEWLINE = 10;
const RETURN = 13;

/**
 * Limits the body of a response. Beyond the size limit, reading fails with an error, but the reader keeps everything before that. A stream
 * may be endless, but is read only at a rate that leaves time for others. A server that sends faster must wait.
 */
export function withBoundedBody(response: Response, maxBytes = MAX_BYTES): Response {
  const { body, headers, status, statusText } = response;
  // The length of a compressed body does not limit its content.
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

/** An empty line ends an event. An empty line that is split between two chunks is missed, which only makes the limit slightly tighter. */
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
