/** Of one answer, or of one event of a stream: as much as a message of a child may have. */
const MAX_BYTES = 16 * 1024 * 1024;
const NEWLINE = 10;
const RETURN = 13;

/** The response, whose body breaks off with an error where it goes on without end: what reads it keeps everything up to the end. */
export function withBoundedBody(response: Response, maxBytes = MAX_BYTES): Response {
  const { body, headers, status, statusText } = response;
  const length = Number(headers.get('content-length') ?? Number.NaN);
  if (!body || !response.ok || length <= maxBytes) return response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  let size = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const end = isStream ? lastEventEnd(chunk) : -1;
      size = end < 0 ? size + chunk.length : chunk.length - end;
      if (size > maxBytes) controller.error(new Error(`it sent more than ${maxBytes} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
  return new Response(body.pipeThrough(bounded), { status, statusText, headers });
}

/** An empty line ends an event. One that is split between two chunks is missed, which only makes the bound a little tighter. */
function lastEventEnd(chunk: Uint8Array): number {
  for (let at = chunk.length - 1; at > 0; at--) {
    if (chunk[at] !== NEWLINE && chunk[at] !== RETURN) continue;
    if (chunk[at - 1] === chunk[at] || (chunk[at] === NEWLINE && chunk[at - 1] === RETURN && chunk[at - 2] === NEWLINE)) return at + 1;
  }
  return -1;
}
