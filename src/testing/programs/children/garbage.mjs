// Answers its tool `echo` correctly between all kinds of garbage: banners, blank lines, CRLF, JSON that is not a message, answers with wrong
// ids, ids as strings, a batch, a character cut in two by the end of a write. Tools:
//   echo     the answer, surrounded by garbage, in three writes
//   late     {text}: answered after the next call, so that answers are out of order
//   broken   answered with a result that is not an object
//   unended  answered with a last line without a newline, then it exits
import { send, serve, text, tool, write } from './rpc.mjs';

let held;
console.log('Welcome to the garbage server!');
write('\n\r\n   \n');

serve({
  name: 'garbage',
  tools: ['echo', 'late', 'broken', 'unended'].map((name) => tool(name)),
  call: {
    echo: (args, id) => {
      write('DEBUG: got a call\n{"half": \n[]\n[1,2]\nnull\n"text"\n7\n{}\n');
      write(
        '{"jsonrpc":"1.0","id":1,"result":{}}\n{"jsonrpc":"2.0"}\n{"jsonrpc":"2.0","method":7}\n{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"?"}}\n',
      );
      send({ id: 987654, result: text('for nobody') });
      send({ id: 'never-asked', error: { code: 1, message: 'for nobody' } });
      write(`${JSON.stringify([{ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'in a batch' } }, 5])}\n`);
      const answer = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: String(id), result: text(args.text) })}\r\n`);
      // Cut the answer inside its first multi-byte character, if it has one.
      const cut = answer.findIndex((byte) => byte >= 0x80) + 1 || 10;
      write(answer.subarray(0, cut));
      setTimeout(() => {
        write(answer.subarray(cut));
        if (held) send(held);
        held = undefined;
      }, 20);
    },
    late: (args, id) => {
      held = { id, result: text(args.text) };
    },
    broken: (_args, id) => send({ id, result: 5 }),
    unended: (args, id) => {
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: text(args.text) }), () => process.exit(0));
    },
  },
});
