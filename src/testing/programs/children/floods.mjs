// Writes to stdout as fast as it is read, starting after initialization, and still answers `echo`. CHILD_FLOOD selects the content: `junk` (default,
// short lines that are not JSON), `blank`, `json` (JSON but not JSON-RPC), `notifications`, `answers` (that nobody asked for), `stderr` (lines on
// stderr instead), `line` (one line that never ends).
import { once } from 'node:events';
import { serve, text, tool } from './rpc.mjs';

const LINES = {
  junk: 'junk\n',
  blank: '\n',
  json: '{"this":"is","no":"message"}\n',
  notifications: `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'flood' } })}\n`,
  answers: `${JSON.stringify({ jsonrpc: '2.0', id: 123456, result: {} })}\n`,
  stderr: 'complaint\n',
  line: 'x',
};
const kind = process.env.CHILD_FLOOD ?? 'junk';

async function flood() {
  const chunk = LINES[kind].repeat(Math.ceil(16_384 / LINES[kind].length));
  const stream = kind === 'stderr' ? process.stderr : process.stdout;
  // Yield to the event loop after each write, so that requests can be read.
  for (;;) {
    if (!stream.write(chunk)) await once(stream, 'drain');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

serve({
  name: 'floods',
  capabilities: { tools: {}, logging: {} },
  tools: () => {
    flood();
    return { tools: [tool('echo')] };
  },
  call: { echo: (args) => text(args.text) },
});
