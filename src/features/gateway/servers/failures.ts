import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { type RpcError, UpstreamError } from '../../../kernel/relay.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { BROKEN_ANSWER, MALFORMED_ANSWER } from './json-rpc.ts';
import { isTooDeep } from './nesting.ts';
import { downRefusal, invalidAnswerRefusal } from './refusals.ts';

/** What a failed or finished call shows about its server: it works (`well`), nothing (`unknown`), communication failed (`strike`), or it lost the session (`forgotten`). */
export type ServerHealth = 'well' | 'unknown' | 'strike' | 'forgotten';

const LONGEST = 300;

/** One line of limited length for any thrown value. */
export function errorLine(error: unknown): string {
  const text = error instanceof Error ? withCause(error) : String(error);
  // A server's text has no length limit, so only the part that may be shown is processed.
  const line = text
    .slice(0, 4 * LONGEST)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

/** `fetch failed` without its cause is not useful. */
function withCause(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const detail = cause?.message || (cause as NodeJS.ErrnoException | undefined)?.code;
  return detail && !error.message.includes(detail) ? `${error.message} (${detail})` : error.message;
}

/** Why a start failed, as a sentence for people. */
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

/** The server supports only the newer revision. */
export function refusesInitialize(error: unknown): boolean {
  const code = rpcErrorOf(error)?.code;
  return code === ProtocolErrorCode.MethodNotFound || code === ProtocolErrorCode.UnsupportedProtocolVersion;
}

export interface RequestFailure {
  readonly health: ServerHealth;
  readonly thrown: Error;
}

/** The server's own error, if it sent one. Over HTTP it may come with an HTTP error status for the same failure. */
export function rpcErrorOf(error: unknown): RpcError | undefined {
  if (error instanceof ProtocolError) return transportReason(error) ? undefined : rpcError(error);
  if (!(error instanceof SdkHttpError) || typeof error.data.text !== 'string') return undefined;
  try {
    const body = JSON.parse(error.data.text) as { id?: unknown; error?: Partial<RpcError> };
    // An error without a request id concerns the connection.
    if (body.id === undefined || body.id === null || typeof body.error?.code !== 'number') return undefined;
    return rpcError({ code: body.error.code, message: String(body.error.message ?? ''), data: body.error.data });
  } catch {
    return undefined;
  }
}

/** An error created by the transport in place of the server's answer. */
function transportReason(error: unknown): string | undefined {
  const { reason } = ((error instanceof ProtocolError && error.data) || {}) as { reason?: unknown };
  return reason === MALFORMED_ANSWER || reason === BROKEN_ANSWER ? reason : undefined;
}

/** Why an answer is neither a result nor a protocol error; undefined if it is one. */
function notMcpReason(error: unknown): string | undefined {
  // The errors that the SDK throws for HTTP answers.
  if (error instanceof SyntaxError || (error instanceof Error && error.name === 'ZodError')) return 'It is not a JSON-RPC message.';
  const isResult = error instanceof SdkError && (error.code === SdkErrorCode.InvalidResult || error.code === SdkErrorCode.UnsupportedResultType);
  return isResult || transportReason(error) === MALFORMED_ANSWER ? sentence(errorLine(error)) : undefined;
}

const rpcError = ({ code, message, data }: RpcError): RpcError => ({ code, message, ...(data === undefined || isTooDeep(data) ? {} : { data }) });

/** The error for the caller of a failed request, and what it shows about the server. */
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
