// Answers `echo` and writes every method it receives to stderr, in order. CHILD_REFUSES: a method that it answers with an error.
import { send, serve, text, tool } from './rpc.mjs';

process.stdin.on('data', (chunk) => {
  for (const line of String(chunk).split('\n')) if (line) console.error(`got ${JSON.parse(line).method}`);
});
const refused = process.env.CHILD_REFUSES;
serve({
  name: 'records',
  tools: [tool('echo')],
  call: { echo: (args) => text(args.text) },
  requests: refused ? { [refused]: (_params, id) => void send({ id, error: { code: -32000, message: 'not today' } }) } : {},
});
