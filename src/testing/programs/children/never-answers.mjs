// Initializes and lists its tool `echo`, but never answers a call of it. CHILD_SILENT=initialize: does not even answer the first request. Writes
// cancelled requests to stderr.
import { serve, tool } from './rpc.mjs';

process.stdin.on('data', (chunk) => {
  for (const line of String(chunk).split('\n')) {
    if (line.includes('"notifications/cancelled"')) console.error(`cancelled ${JSON.parse(line).params.requestId}`);
  }
});
serve({
  name: 'never-answers',
  tools: [tool('echo')],
  call: { echo: () => undefined },
  requests: process.env.CHILD_SILENT === 'initialize' ? { initialize: () => undefined } : {},
});
