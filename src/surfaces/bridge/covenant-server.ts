import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Implementation,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
} from '@modelcontextprotocol/server';
import { fitsHeader } from '../../wire/credentials.ts';
import { failureCode, type HttpAnswer, httpRequest } from '../../wire/http-client.ts';
import { parseJson, recordIn } from '../../wire/json.ts';
import { DEFAULT_BODY_BYTES } from '../../wire/limits.ts';
import { placeHeaders } from '../place-headers.ts';
import { isToolList } from './last-list.ts';
import { badAnswer, bodyTooLarge, connectionLost, isTeamEnvelope, malformedToken, type TeamEnvelope, timedOut, unreachable } from './refusal.ts';
import type { BridgeSettings } from './settings.ts';

const PROTOCOL_VERSION = '2026-07-28';

export interface BridgeRequest {
  readonly method: 'tools/list' | 'tools/call';
  readonly params: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
  readonly token: string | undefined;
  /** The agent program that started this bridge. Journal entries carry the program's name, not the bridge's. */
  readonly client: Implementation | undefined;
  readonly signal: AbortSignal;
}

/** `refused` means that the request was refused. `failed` means that the bridge got no valid response from the server. */
export type BridgeAnswer = { readonly result: Record<string, unknown> } | { readonly refused: TeamEnvelope } | { readonly failed: TeamEnvelope };

/** Sends each request as one POST. Uses MCP revision 2026-07-28, because that revision has no sessions that could be lost between two requests. */
export async function askCovenant({ origin, timeoutMs, toolsets }: BridgeSettings, question: BridgeRequest): Promise<BridgeAnswer> {
  if (question.token !== undefined && !fitsHeader(question.token)) return { refused: malformedToken() };
  const deadline = AbortSignal.timeout(timeoutMs);
  const body = bodyOf(question);
  try {
    const answer = await httpRequest(`${origin}/mcp${toolsets ? `/${toolsets}` : ''}`, {
      method: 'POST',
      headers: headersOf(question),
      body,
      signal: AbortSignal.any([deadline, question.signal]),
    });
    const understood = understand(answer);
    const isUsable = understood && !('result' in understood && question.method === 'tools/list' && !isToolList(understood.result));
    return isUsable ? understood : { failed: badAnswer(origin, answer.status) };
  } catch (error) {
    if (error instanceof ProtocolError || question.signal.aborted) throw error;
    if (deadline.aborted) return { failed: timedOut(origin, timeoutMs) };
    const reason = failureCode(error);
    const wasSent = reason === 'ECONNRESET' || reason === 'EPIPE';
    // If a body is too large, the server refuses it and closes the connection before it has read the whole body. The refusal can then be lost.
    if (wasSent && Buffer.byteLength(body) > DEFAULT_BODY_BYTES) return { refused: bodyTooLarge(DEFAULT_BODY_BYTES) };
    return { failed: wasSent ? connectionLost(origin, reason) : unreachable(origin, reason) };
  }
}

function headersOf({ method, params, token }: BridgeRequest): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': PROTOCOL_VERSION,
    'mcp-method': method,
    ...placeHeaders(process.cwd()),
  };
  if (typeof params.name === 'string') headers['mcp-name'] = headerValue(params.name);
  if (token) headers.authorization = `Bearer ${token}`;
  return headers;
}

/** Returns the name as it is, or in the encoding that the protocol requires for names that are not valid in a header. */
function headerValue(name: string): string {
  return /^(?!=\?)[\x21-\x7e]+$/.test(name) ? name : `=?base64?${Buffer.from(name, 'utf8').toString('base64')}?=`;
}

function bodyOf({ method, params, meta, client }: BridgeRequest): string {
  const envelope = {
    [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION,
    // The bridge declares no capabilities, because it cannot pass questions to the client.
    [CLIENT_CAPABILITIES_META_KEY]: {},
    ...(client && { [CLIENT_INFO_META_KEY]: client }),
  };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...meta, ...envelope } } });
}

/** Returns undefined if the response does not come from a Covenant server. */
function understand({ status, headers, text }: HttpAnswer): BridgeAnswer | undefined {
  const isStream = headers['content-type']?.startsWith('text/event-stream');
  const message = parseJson(isStream ? lastEvent(text) : text);
  const { result, error } = recordIn(message) as { result?: unknown; error?: { code?: unknown; message?: unknown; data?: unknown } };
  if (typeof result === 'object' && result !== null) return { result: result as Record<string, unknown> };
  if (typeof error?.code === 'number') throw new ProtocolError(error.code, String(error.message), error.data);
  return status >= 400 && isTeamEnvelope(message) ? { refused: message } : undefined;
}

/** Returns the last event of a stream. It contains the result, because notifications come first. */
const lastEvent = (text: string): string => [...text.matchAll(/^data: ?(.*)$/gm)].at(-1)?.[1] ?? '';
