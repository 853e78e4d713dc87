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
  /** The agent's program, so that the journal names it and not this bridge. */
  readonly client: Implementation | undefined;
  readonly signal: AbortSignal;
}

/** `refused` is the server's word; `failed` is ours, where the server did not say anything that could be understood. */
export type BridgeAnswer = { readonly result: Record<string, unknown> } | { readonly refused: TeamEnvelope } | { readonly failed: TeamEnvelope };

/** One POST for one question: the 2026-07-28 protocol has no session that could break between two of them. */
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
    // The server does not read the rest of an oversized body, and its refusal can be lost with the connection.
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

/** The protocol's own encoding of names that a header cannot hold as they are. */
function headerValue(name: string): string {
  return /^(?!=\?)[\x21-\x7e]+$/.test(name) ? name : `=?base64?${Buffer.from(name, 'utf8').toString('base64')}?=`;
}

function bodyOf({ method, params, meta, client }: BridgeRequest): string {
  const envelope = {
    [PROTOCOL_VERSION_META_KEY]: PROTOCOL_VERSION,
    // None: the bridge carries calls and their results, not questions back to the client.
    [CLIENT_CAPABILITIES_META_KEY]: {},
    ...(client && { [CLIENT_INFO_META_KEY]: client }),
  };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...meta, ...envelope } } });
}

/** Undefined where the text is nothing that a Covenant server says. */
function understand({ status, headers, text }: HttpAnswer): BridgeAnswer | undefined {
  const isStream = headers['content-type']?.startsWith('text/event-stream');
  const message = parseJson(isStream ? lastEvent(text) : text);
  const { result, error } = recordIn(message) as { result?: unknown; error?: { code?: unknown; message?: unknown; data?: unknown } };
  if (typeof result === 'object' && result !== null) return { result: result as Record<string, unknown> };
  if (typeof error?.code === 'number') throw new ProtocolError(error.code, String(error.message), error.data);
  return status >= 400 && isTeamEnvelope(message) ? { refused: message } : undefined;
}

/** Where a server streams, notifications come first and the result is the last event. */
const lastEvent = (text: string): string => [...text.matchAll(/^data: ?(.*)$/gm)].at(-1)?.[1] ?? '';
