import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { type RpcError, UpstreamError } from '../../../kernel/relay.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { BROKEN_ANSWER, MALFORMED_ANSWER } from './json-rpc.ts';
import { isTooDeep } from './nesting.ts';
import { downRefusal, invalidAnswerRefusal } from './refusals.ts';

/** What a call shows about its server: it answers (`well`), nothing (`unknown`), it cannot be spoken with (`strike`), or it lost the session (`forgotten`). */
export type ServerHealth = 'well' | 'unknown' | 'strike' | 'forgotten';

const LONGEST = 300;

/** One bounded line for anything that was thrown. */
export function errorLine(error: unknown): string {
  const text = error instanceof Error ? withCause(error) : String(error);
  // A server's text has no bound: no more of it is looked at than may be shown.
  const line = text
    .slice(0, 4 * LONGEST)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

/** `fetch failed` alone helps nobody. */
function withCause(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const detail = cause?.message || (cause as NodeJS.ErrnoException | undefined)?.code;
  return detail && !error.message.includes(detail) ? `${error.message} (${detail})` : error.message;
}

/** Why a start came to nothing, as a sentence for a person. */
export function problemOf(error: unknown): string {
  if (error instanceof SdkHttpError) return httpProblem(error);
  const notMcp = notMcpReason(error);
  if (notMcp) return `What it answered is not MCP: ${notMcp}`;
  if (error instanceof ProtocolError && !transportReason(error)) return sentence(`It refused the handshake: ${errorLine(error)}`);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return 'It ended, or closed the connection, before the handshake was over.';
  return sentence(errorLine(error));
}

function httpProblem({ status, statusText }: SdkHttpError): string {
  if (status === 401 || status === 403) return `It answered HTTP ${status}: it wants credentials. Set them under \`headers\` in its entry in secrets.toml.`;
  return `It answered HTTP ${status}${statusText ? ` ${statusText}` : ''}.`;
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** The server speaks the newer revision only. */
export function refusesInitialize(error: unknown): boolean {
  const code = rpcErrorOf(error)?.code;
  return code === ProtocolErrorCode.MethodNotFound || code === ProtocolErrorCode.UnsupportedProtocolVersion;
}

export interface RequestFailure {
  readonly health: ServerHealth;
  readonly thrown: Error;
}

/** The server's own word, where it has spoken. Over HTTP an error may come under a status that says the same once more. */
export function rpcErrorOf(error: unknown): RpcError | undefined {
  if (error instanceof ProtocolError) return transportReason(error) ? undefined : rpcError(error);
  if (!(error instanceof SdkHttpError) || typeof error.data.text !== 'string') return undefined;
  try {
    const body = JSON.parse(error.data.text) as { id?: unknown; error?: Partial<RpcError> };
    // Without the id of a request it is about the connection.
    if (body.id === undefined || body.id === null || typeof body.error?.code !== 'number') return undefined;
    return rpcError({ code: body.error.code, message: String(body.error.message ?? ''), data: body.error.data });
  } catch {
    return undefined;
  }
}

/** An error of the transport's own, which stands where the server's answer would. */
function transportReason(error: unknown): string | undefined {
  const { reason } = ((error instanceof ProtocolError && error.data) || {}) as { reason?: unknown };
  return reason === MALFORMED_ANSWER || reason === BROKEN_ANSWER ? reason : undefined;
}

/** Why an answer is neither a result nor an error of the protocol; undefined if it is one. */
function notMcpReason(error: unknown): string | undefined {
  // As the SDK reads what came over HTTP.
  if (error instanceof SyntaxError || (error instanceof Error && error.name === 'ZodError')) return 'It is no message of JSON-RPC.';
  const isResult = error instanceof SdkError && (error.code === SdkErrorCode.InvalidResult || error.code === SdkErrorCode.UnsupportedResultType);
  return isResult || transportReason(error) === MALFORMED_ANSWER ? sentence(errorLine(error)) : undefined;
}

const rpcError = ({ code, message, data }: RpcError): RpcError => ({ code, message, ...(data === undefined || isTooDeep(data) ? {} : { data }) });

/** The error for the caller of a failed request, and what the failure shows about the server. */
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
    return { health: 'unknown', thrown: downRefusal(server, 'It ended during the call.') };
  return { health: 'strike', thrown: downRefusal(server, sentence(errorLine(error))) };
}
