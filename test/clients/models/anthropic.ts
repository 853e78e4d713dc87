import { type Args, type Protocol, piecesOf, type Said, sendEvents, sendJson, textOf } from './model.ts';

interface Block {
  readonly type: string;
  readonly content?: unknown;
}

/** The protocol with `POST /v1/messages`, which Claude Code uses, and opencode if its provider is Anthropic. */
export const anthropic: Protocol = {
  isTurn: (path, body) =>
    path.startsWith('/v1/messages') && !path.includes('count_tokens') && listOf(body.tools).length > 0 && !asksForSummary(listOf(body.messages).at(-1)),
  read: (body) => ({
    tools: listOf<{ name: string }>(body.tools).map(({ name }) => name),
    results: listOf<{ content: unknown }>(body.messages)
      .flatMap(({ content }) => listOf<Block>(content))
      .flatMap(({ type, content }) => (type === 'tool_result' ? [textOf(content)] : [])),
    pieces: [body.system, ...listOf<{ content: unknown }>(body.messages).map(({ content }) => content)].flatMap(piecesOf),
  }),
  answer(response, path, said) {
    if (path.includes('count_tokens')) return sendJson(response, { input_tokens: 10 });
    return sendEvents(response, eventsOf(said));
  },
};

/** Whether Claude Code asks for a summary. It offers its tools in this request too, but forbids their use. */
const asksForSummary = (message: unknown): boolean => /your summary based on the conversation/.test(textOf((message as { content: unknown }).content));

function eventsOf(said: Said): Args[] {
  const usage = { input_tokens: said.tokens, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const calls = 'tool' in said;
  const message = {
    id: `msg_${said.id}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const block = calls ? { type: 'tool_use', id: `toolu_${said.id}`, name: said.tool, input: {} } : { type: 'text', text: '' };
  const delta = calls ? { type: 'input_json_delta', partial_json: JSON.stringify(said.args) } : { type: 'text_delta', text: said.text };
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}

const listOf = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : []);
