import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { isRecord } from '../../../kernel/registry.ts';

export type JsonRpcAnswer = JSONRPCMessage & { readonly id: RequestId };
export type ReceivedMessage =
  | { readonly kind: 'answer'; readonly message: JsonRpcAnswer }
  | { readonly kind: 'request' | 'notification'; readonly message: JSONRPCMessage };

/**
 * Values of `reason` in the `data` of errors that Covenant creates. Malformed: the answer of the server was invalid. Broken: the answer ended before
 * it was complete.
 */
export const MALFORMED_ANSWER = 'malformed_answer';
export const BROKEN_ANSWER = 'broken_answer';
/** Larger batches are refused. No real server sends them, and a batch is processed without a pause for other work. */
const MAX_BATCH = 100;

/** Reads the messages in one line of a server's output. If the line contains none, returns the reason as text. */
export function readMessages(line: string): ReceivedMessage[] | string {
  // The first character is checked before parsing, because an exception of the parser takes a hundred times as long.
  if (!/^\s*[[{]/.test(line)) return 'not JSON';
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'not JSON';
  }
  // Batches exist in only one protocol revision, 2025-03-26.
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

/** An error in place of an invalid answer, so that the caller does not wait until its timeout. */
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
