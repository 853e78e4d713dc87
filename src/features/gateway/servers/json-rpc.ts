import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { isRecord } from '../../../kernel/registry.ts';

export type JsonRpcAnswer = JSONRPCMessage & { readonly id: RequestId };
export type ReceivedMessage =
  | { readonly kind: 'answer'; readonly message: JsonRpcAnswer }
  | { readonly kind: 'request' | 'notification'; readonly message: JSONRPCMessage };

/** In the `data` of an error that is ours and not the server's: its own answer was no answer, or it has ended without one. */
export const MALFORMED_ANSWER = 'malformed_answer';
export const BROKEN_ANSWER = 'broken_answer';
/** Larger ones are no batch that anybody sends in earnest, and would be dispatched in one go. */
const MAX_BATCH = 100;

/** One line of a server's output as the messages in it, or why it is none. */
export function readMessages(line: string): ReceivedMessage[] | string {
  // A look at the first character is a hundred times cheaper than an error thrown by the parser.
  if (!/^\s*[[{]/.test(line)) return 'not JSON';
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'not JSON';
  }
  // One revision of the protocol (2025-03-26) has batches.
  if (Array.isArray(value) && value.length > MAX_BATCH) return `a batch of ${value.length} messages`;
  const messages = (Array.isArray(value) ? value : [value]).map(readMessage).filter((message) => message !== undefined);
  return messages.length > 0 ? messages : 'not a JSON-RPC message';
}

function readMessage(value: unknown): ReceivedMessage | undefined {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
  const { id, method } = value;
  const message = value as JSONRPCMessage;
  if (method !== undefined) {
    if (typeof method !== 'string' || (value.params !== undefined && !isRecord(value.params))) return undefined;
    if (id === undefined) return { kind: 'notification', message };
    return isId(id) ? { kind: 'request', message } : undefined;
  }
  if (!isId(id)) return undefined;
  return { kind: 'answer', message: isAnswer(value) ? (message as JsonRpcAnswer) : malformedAnswer(id) };
}

/** The caller gets an error at once instead of waiting for its whole time. */
const malformedAnswer = (id: RequestId): JsonRpcAnswer =>
  errorAnswer(id, MALFORMED_ANSWER, 'The server answered with something that is neither a result nor an error');
export const brokenAnswer = (id: RequestId): JsonRpcAnswer => errorAnswer(id, BROKEN_ANSWER, 'The server ended its answer before it was complete');

const errorAnswer = (id: RequestId, reason: string, message: string): JsonRpcAnswer => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_603, message, data: { reason } },
});

function isAnswer({ result, error }: Record<string, unknown>): boolean {
  if (error === undefined) return isRecord(result);
  return result === undefined && isRecord(error) && Number.isInteger(error.code) && typeof error.message === 'string';
}

const isId = (id: unknown): id is RequestId => typeof id === 'string' || Number.isInteger(id);
