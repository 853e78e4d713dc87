// Lists two different tools with the same name `echo`, and a tool `other`.
import { serve, text, tool } from './rpc.mjs';

serve({
  name: 'duplicate-name',
  tools: [tool('echo', 'The first.'), tool('other'), tool('echo', 'The second.')],
  call: { echo: (args) => text(args.text), other: (args) => text(args.text) },
});
