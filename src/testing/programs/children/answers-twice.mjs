// Answers every call of its tool `echo` twice, the second time with another text.
import { send, serve, text, tool } from './rpc.mjs';

serve({
  name: 'answers-twice',
  tools: [tool('echo')],
  call: {
    echo: (args, id) => {
      send({ id, result: text(args.text) });
      return text('the second answer');
    },
  },
});
