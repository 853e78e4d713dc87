// Lists 500 tools (CHILD_TOOLS: another number), `tool-0` to `tool-499`, in pages of 40. Each returns its own name and the text.
import { serve, text, tool } from './rpc.mjs';

const COUNT = Number(process.env.CHILD_TOOLS ?? 500);
const PAGE = 40;
const names = Array.from({ length: COUNT }, (_, at) => `tool-${at}`);

serve({
  name: 'many-tools',
  tools: ({ cursor = '0' }) => {
    const from = Number(cursor);
    const next = from + PAGE < COUNT ? { nextCursor: String(from + PAGE) } : {};
    return { tools: names.slice(from, from + PAGE).map((name) => tool(name)), ...next };
  },
  call: Object.fromEntries(names.map((name) => [name, (args) => text(`${name} ${args.text}`)])),
});
