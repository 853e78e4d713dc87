// Not a child itself: the loop that the children in this folder share. Hand-written JSON-RPC over stdin and stdout, no SDK, so that a child can
// misbehave in any way. serve({ tools, call, requests, onEnd }):
//   tools     definitions for tools/list (a function is called each time with the request's params)
//   call      { name: (args, id, params) => result } of tools/call; undefined: no answer is sent
//   requests  { method: (params, id) => result }, before the built-in ones
//   onEnd     what to do when stdin ends (default: exit)
export const send = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
export const write = (text) => process.stdout.write(text);
export const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
export const TEXT_SCHEMA = { type: 'object', properties: { text: { type: 'string' } } };
export const tool = (name, description = `The tool ${name}.`) => ({ name, description, inputSchema: TEXT_SCHEMA });

export function serve({ name = 'child', capabilities = { tools: {} }, tools = [], call = {}, requests = {}, onEnd = () => process.exit(0) }) {
  const builtIn = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo: { name, version: '1.0.0' } }),
    ping: () => ({}),
    'tools/list': (params) => (typeof tools === 'function' ? tools(params ?? {}) : { tools }),
    'tools/call': (params, id) => call[params.name]?.(params.arguments ?? {}, id, params),
    ...requests,
  };
  const receive = async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || method === undefined) return;
    const handler = builtIn[method];
    if (!handler) return send({ id, error: { code: -32601, message: 'Method not found' } });
    const result = await handler(params, id);
    if (result !== undefined) send({ id, result });
  };
  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim()) receive(line);
  });
  process.stdin.on('end', onEnd);
}
