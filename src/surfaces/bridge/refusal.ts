import type { CallToolResult } from '@modelcontextprotocol/server';
import { ENVELOPES, refused } from '../../kernel/reply.ts';

/** The response format of the team contract. The server's refusals have the same format. */
export type TeamEnvelope = {
  status: string;
  message: string;
  feedback: { type: string; required_action: string | null };
  data: Record<string, unknown>;
};

function refusal(code: string, message: string, requiredAction: string, data: Record<string, unknown> = {}): TeamEnvelope {
  return ENVELOPES.team.render(refused('error', code, message, requiredAction, data)) as TeamEnvelope;
}

/** The next step after a lost answer. The server may have carried out the call anyway. */
const LOOK_FIRST = 'The call may have succeeded. Check whether the change was made before you repeat the call.';

export function unreachable(origin: string, reason: string | undefined): TeamEnvelope {
  const because = reason ? ` (${reason})` : '';
  return refusal(
    'SERVER_UNREACHABLE',
    `The Covenant server at ${origin} cannot be reached${because}.`,
    'Ask your user to run `covenant up`, or to set COVIBE_BASE_URL to the origin of the server. Then repeat the call.',
  );
}

export function connectionLost(origin: string, reason: string | undefined): TeamEnvelope {
  const because = reason ? ` (${reason})` : '';
  return refusal('SERVER_UNREACHABLE', `The connection to the Covenant server at ${origin} was lost before the answer${because}.`, LOOK_FIRST);
}

export function timedOut(origin: string, timeoutMs: number): TeamEnvelope {
  return refusal(
    'SERVER_TIMEOUT',
    `The Covenant server at ${origin} did not answer within ${timeoutMs} ms.`,
    `${LOOK_FIRST} For slower calls, your user can raise COVIBE_TIMEOUT_MS.`,
  );
}

export function badAnswer(origin: string, status: number): TeamEnvelope {
  return refusal(
    'SERVER_BAD_ANSWER',
    `The response from ${origin}/mcp is not from a Covenant server (HTTP ${status}).`,
    'Ask your user to set COVIBE_BASE_URL to the origin of a Covenant server.',
  );
}

/** The same message as the server sends if a body is too large. */
export function bodyTooLarge(limit: number): TeamEnvelope {
  return refusal('BODY_TOO_LARGE', `The body is larger than ${limit} bytes.`, 'Send a smaller body.', { field: 'body' });
}

export function malformedToken(): TeamEnvelope {
  return refusal(
    'MALFORMED_TOKEN',
    'The token contains invalid characters.',
    'Ask your user to set COVIBE_MCP_TOKEN to the token exactly as it was issued (cv_…), or to unset it.',
  );
}

export function isTeamEnvelope(value: unknown): value is TeamEnvelope {
  const { status, message, feedback, data } = (value ?? {}) as Partial<TeamEnvelope>;
  return (
    typeof status === 'string' && typeof message === 'string' && typeof feedback === 'object' && feedback !== null && typeof data === 'object' && data !== null
  );
}

export function asToolResult(envelope: TeamEnvelope): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(envelope) }], structuredContent: envelope, isError: true };
}
