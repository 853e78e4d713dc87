import { type CallToolResult, isSpecType, ProtocolError, ProtocolErrorCode, ResourceNotFoundError, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { CallAnswer } from '../../kernel/call.ts';
import type { Json } from '../../kernel/relay.ts';

/** Converts answers of the pipe and of external servers to MCP results. */

/** The key for the id of a call. People can look up the call in the journal or the log. Models do not see the id. */
const REQUEST_META_KEY = 'covenant/request_id';

/** The body of a gateway tool is already a tool result. Every other envelope is sent as text and as structured content. */
export function toolResult(answer: CallAnswer): Json {
  if (answer.relayed) return readable(relayed(answer.relayed));
  const { body, isError, isToolResult } = answer;
  const found = isError ? { _meta: { [REQUEST_META_KEY]: answer.requestId } } : {};
  if (isToolResult) return { ...body, ...found };
  return { content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body, isError, ...found } satisfies CallToolResult;
}

/** Converts content of an unknown kind to text, because clients reject a whole result if it contains such content. */
function readable(result: Json): Json {
  if (!Array.isArray(result.content) || result.content.every(isSpecType.ContentBlock)) return result;
  return { ...result, content: result.content.map((block) => (isSpecType.ContentBlock(block) ? block : { type: 'text', text: JSON.stringify(block) })) };
}

/** Returns the result of a request for a prompt, resource or completion. A refusal is thrown as an error, because these results have no error flag. */
export function resultOf(answer: CallAnswer): Json {
  if (answer.relayed) return relayed(answer.relayed);
  const { reply } = answer;
  if (reply.status === 'ok') return answer.body;
  const code = OUR_FAULT.test(reply.code) ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  throw new ProtocolError(code, `${reply.message} ${reply.next}`, { ...(reply.data as Json), code: reply.code, next: reply.next });
}

const OUR_FAULT = /^(UPSTREAM_|TOOL_TIMEOUT|SHUTTING_DOWN|STORE_|INTERNAL|OUTCOME_UNKNOWN|SCHEMA_MISMATCH)/;

/**
 * Passes on a result of an external server with two changes. The result no longer names
 * the external server as its sender, and caches may not share it between callers.
 */
function relayed(answer: NonNullable<CallAnswer['relayed']>): Json {
  if ('error' in answer) throw ProtocolError.fromError(answer.error.code, answer.error.message, answer.error.data);
  const { _meta, ...result } = answer.result;
  const { [SERVER_INFO_META_KEY]: _, ...meta } = (_meta ?? {}) as Json;
  if (result.cacheScope === 'public') result.cacheScope = 'private';
  return Object.keys(meta).length > 0 ? { ...result, _meta: meta } : result;
}

/** The error is the same for a resource that does not exist and for one that the caller may not read. */
export const resourceNotFound = (uri: string): ProtocolError => new ResourceNotFoundError(uri);
