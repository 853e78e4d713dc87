import { type Args, type Protocol, piecesOf, type Said, sendEvents, textOf } from './model.ts';

interface Tool {
  readonly type: string;
  readonly name?: string;
  readonly tools?: readonly Tool[];
}

interface Item {
  readonly type?: string;
  readonly content?: unknown;
  readonly output?: unknown;
  readonly tools?: readonly Tool[];
}

/**
 * The protocol with `POST /responses`, which Codex uses. A tool in a namespace is called `namespace/tool` here. If a tool takes free text, the text is in the
 * argument `input`. Newer models receive the list of tools at the beginning of the conversation.
 */
export const responses: Protocol = {
  isTurn: (path, body) => path.endsWith('/responses') && toolsIn(body).length > 0,
  read: (body) => {
    const items = body.input as readonly Item[];
    return {
      tools: toolsIn(body).flatMap((tool) => (tool.tools ? tool.tools.map(({ name }) => `${tool.name}/${name}`) : [tool.name ?? tool.type])),
      results: items.flatMap(({ type, output }) => (type?.endsWith('_output') ? [textOf(output)] : [])),
      pieces: [body.instructions, ...items.map((item) => item.content ?? item.output ?? item)].flatMap(piecesOf),
    };
  },
  answer: (response, _path, said) => sendEvents(response, eventsOf(said)),
};

function toolsIn(body: Args): Tool[] {
  const items = Array.isArray(body.input) ? (body.input as readonly Item[]) : [];
  return [...((body.tools as readonly Tool[] | undefined) ?? []), ...items.flatMap(({ type, tools }) => (type === 'additional_tools' ? (tools ?? []) : []))];
}

function eventsOf(said: Said): Args[] {
  const item = itemOf(said);
  const usage = {
    input_tokens: said.tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: said.tokens + 5,
  };
  return [
    { type: 'response.created', response: { id: `resp_${said.id}` } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: `resp_${said.id}`, output: [item], usage } },
  ];
}

function itemOf(said: Said): Args {
  if (!('tool' in said)) return { type: 'message', role: 'assistant', id: `msg_${said.id}`, content: [{ type: 'output_text', text: said.text }] };
  const [name = '', namespace] = said.tool.split('/').reverse();
  const call = { call_id: `call_${said.id}`, name, ...(namespace ? { namespace } : {}) };
  return 'input' in said.args
    ? { type: 'custom_tool_call', ...call, input: said.args.input }
    : { type: 'function_call', ...call, arguments: JSON.stringify(said.args) };
}
