import { type CallToolResult, isSpecType, ProtocolError, ProtocolErrorCode, ResourceNotFoundError, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { CallAnswer } from '../../kernel/call.ts';
import type { Json } from '../../kernel/relay.ts';

/** Answers of the pipe and of other servers, as results of the protocol. */

/** For people: by it an answer is found in the journal and the log. It is no part of what a model reads. */
const REQUEST_META_KEY = 'covenant/request_id';

/** A gateway tool's body is already a tool result; every other envelope travels both as text and as structured content. */
export function toolResult(answer: CallAnswer): Json {
  if (answer.relayed) return readable(relayed(answer.relayed));
  const { body, isError, isToolResult } = answer;
  const found = isError ? { _meta: { [REQUEST_META_KEY]: answer.requestId } } : {};
  if (isToolResult) return { ...body, ...found };
  return { content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body, isError, ...found } satisfies CallToolResult;
}

/** Content of a kind that the protocol does not have makes clients refuse the whole result: it travels as its own text. */
function readable(result: Json): Json {
  if (!Array.isArray(result.content) || result.content.every(isSpecType.ContentBlock)) return result;
  return { ...result, content: result.content.map((block) => (isSpecType.ContentBlock(block) ? block : { type: 'text', text: JSON.stringify(block) })) };
}

/** For prompts, resources and completion, whose results cannot say that they are an error. */
export function resultOf(answer: CallAnswer): Json {
  if (answer.relayed) return relayed(answer.relayed);
  const { reply } = answer;
  if (reply.status === 'ok') return answer.body;
  const code = OUR_FAULT.test(reply.code) ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  throw new ProtocolError(code, `${reply.message} ${reply.next}`, { ...(reply.data as Json), code: reply.code, next: reply.next });
}

const OUR_FAULT = /^(UPSTREAM_|TOOL_TIMEOUT|SHUTTING_DOWN|STORE_|INTERNAL|OUTCOME_UNKNOWN|SCHEMA_MISMATCH)/;

/** As it came, but for two things: who answers is this server, and what the gate has let through is for this caller alone. */
function relayed(answer: NonNullable<CallAnswer['relayed']>): Json {
  if ('error' in answer) throw ProtocolError.fromError(answer.error.code, answer.error.message, answer.error.data);
  const { _meta, ...result } = answer.result;
  const { [SERVER_INFO_META_KEY]: _, ...meta } = (_meta ?? {}) as Json;
  if (result.cacheScope === 'public') result.cacheScope = 'private';
  return Object.keys(meta).length > 0 ? { ...result, _meta: meta } : result;
}

/** Reads the same for a resource that nobody has and for one of a server that the caller may not read. */
export const resourceNotFound = (uri: string): ProtocolError => new ResourceNotFoundError(uri);
