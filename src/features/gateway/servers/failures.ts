import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { type RpcError, UpstreamError } from '../../../kernel/relay.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { BROKEN_ANSWER, MALFORMED_ANSWER } from './json-rpc.ts';
import { isTooDeep } from './nesting.ts';
import { downRefusal, invalidAnswerRefusal } from './refusals.ts';

/**
 * What a failed or finished call shows about its server. `well`: the server works. `unknown`: the call shows nothing. `strike`: the communication
 * failed. `forgotten`: the server no longer knows the session.
 */
export type ServerHealth = 'well' | 'unknown' | 'strike' | 'forgotten';

const LONGEST = 300;

/** Describes a thrown value in one short line. */
export function errorLine(error: unknown): string {
  const text = error instanceof Error ? withCause(error) : String(error);
  // The text comes from the server and may be very long, so only its beginning is processed.
  const line = text
    .slice(0, 4 * LONGEST)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

/** Adds the cause, because a message such as `fetch failed` alone is not useful. */
function withCause(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const detail = cause?.message || (cause as NodeJS.ErrnoException | undefined)?.code;
  return detail && !error.message.includes(detail) ? `${error.message} (${detail})` : error.message;
}

/** Explains to people why a server did not start. */
export function problemOf(error: unknown): string {
  if (error instanceof SdkHttpError) return httpProblem(error);
  const notMcp = notMcpReason(error);
  if (notMcp) return `Its answer is not MCP: ${notMcp}`;
  if (error instanceof ProtocolError && !transportReason(error)) return sentence(`It refused the handshake: ${errorLine(error)}`);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return 'It exited or closed the connection before the handshake was complete.';
  return sentence(errorLine(error));
}

function httpProblem({ status, statusText }: SdkHttpError): string {
  if (status === 401 || status === 403) return `It returned HTTP ${status}: it requires credentials. Set them under \`headers\` of its entry in secrets.toml.`;
  return `It returned HTTP ${status}${statusText ? ` ${statusText}` : ''}.`;
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Whether the error means that the server does not know `initialize`, because it supports only the newer revision. */
export function refusesInitialize(error: unknown): boolean {
  const code = rpcErrorOf(error)?.code;
  return code === ProtocolErrorCode.MethodNotFound || code === ProtocolErrorCode.UnsupportedProtocolVersion;
}

export interface RequestFailure {
  readonly health: ServerHealth;
  readonly thrown: Error;
}

/** The JSON-RPC error that the server sent, if any. Over HTTP, it may be in the body of a response with an error status. */
export function rpcErrorOf(error: unknown): RpcError | undefined {
  if (error instanceof ProtocolError) return transportReason(error) ? undefined : rpcError(error);
  if (!(error instanceof SdkHttpError) || typeof error.data.text !== 'string') return undefined;
  try {
    const body = JSON.parse(error.data.text) as { id?: unknown; error?: Partial<RpcError> };
    // An error without a request id concerns the connection and not this request.
    if (body.id === undefined || body.id === null || typeof body.error?.code !== 'number') return undefined;
    return rpcError({ code: body.error.code, message: String(body.error.message ?? ''), data: body.error.data });
  } catch {
    return undefined;
  }
}

/** The reason of an error that the transport created because the server sent no valid answer. Undefined for other errors. */
function transportReason(error: unknown): string | undefined {
  const { reason } = ((error instanceof ProtocolError && error.data) || {}) as { reason?: unknown };
  return reason === MALFORMED_ANSWER || reason === BROKEN_ANSWER ? reason : undefined;
}

/** Why an answer is not valid MCP. Undefined if it is a result or a protocol error. */
function notMcpReason(error: unknown): string | undefined {
  // The SDK throws these errors for HTTP answers that it cannot parse.
  if (error instanceof SyntaxError || (error instanceof Error && error.name === 'ZodError')) return 'It is not a JSON-RPC message.';
  const isResult = error instanceof SdkError && (error.code === SdkErrorCode.InvalidResult || error.code === SdkErrorCode.UnsupportedResultType);
  return isResult || transportReason(error) === MALFORMED_ANSWER ? sentence(errorLine(error)) : undefined;
}

const rpcError = ({ code, message, data }: RpcError): RpcError => ({ code, message, ...(data === undefined || isTooDeep(data) ? {} : { data }) });

/** Returns the error for the caller of a failed request, and what the failure shows about the server. */
export function failureOf(server: string, error: unknown): RequestFailure {
  if (error instanceof Refusal) return { health: 'unknown', thrown: error };
  const answered = rpcErrorOf(error);
  if (answered) return { health: 'well', thrown: new UpstreamError(server, answered) };
  if (error instanceof SdkHttpError) {
    return { health: error.status === 404 ? 'forgotten' : 'strike', thrown: downRefusal(server, httpProblem(error)) };
  }
  const notMcp = notMcpReason(error);
  if (notMcp) return { health: 'well', thrown: invalidAnswerRefusal(server, notMcp) };
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return { health: 'unknown', thrown: downRefusal(server, 'It exited during the call.') };
  return { health: 'strike', thrown: downRefusal(server, sentence(errorLine(error))) };
}
