import type { CallToolResult } from '@modelcontextprotocol/server';
import { ENVELOPES, refused } from '../../kernel/reply.ts';

/** The team contract's response, as the server's own refusals have it. */
export type TeamEnvelope = {
  status: string;
  message: string;
  feedback: { type: string; required_action: string | null };
  data: Record<string, unknown>;
};

function refusal(code: string, message: string, requiredAction: string, data: Record<string, unknown> = {}): TeamEnvelope {
  return ENVELOPES.team.render(refused('error', code, message, requiredAction, data)) as TeamEnvelope;
}

/** Reading the state first matters where the call may have been carried out although its answer was lost. */
const LOOK_FIRST = 'The call may have been carried out: read the state before you repeat it.';

export function unreachable(origin: string, reason: string | undefined): TeamEnvelope {
  const because = reason ? ` (${reason})` : '';
  return refusal(
    'SERVER_UNREACHABLE',
    `The Covenant server at ${origin} cannot be reached${because}.`,
    'Ask your user to start it with `covenant up`, or to set COVIBE_BASE_URL to its origin; then call again.',
  );
}

export function connectionLost(origin: string, reason: string | undefined): TeamEnvelope {
  const because = reason ? ` (${reason})` : '';
  return refusal('SERVER_UNREACHABLE', `The connection to the Covenant server at ${origin} was lost before its answer came${because}.`, LOOK_FIRST);
}

export function timedOut(origin: string, timeoutMs: number): TeamEnvelope {
  return refusal('SERVER_TIMEOUT', `The Covenant server at ${origin} did not answer within ${timeoutMs} ms.`, `${LOOK_FIRST} COVIBE_TIMEOUT_MS sets the wait.`);
}

export function badAnswer(origin: string, status: number): TeamEnvelope {
  return refusal(
    'SERVER_BAD_ANSWER',
    `What answers at ${origin}/mcp does not speak like a Covenant server (HTTP ${status}).`,
    'Ask your user whether COVIBE_BASE_URL is the origin of a Covenant server.',
  );
}

/** In the server's own words. */
export function bodyTooLarge(limit: number): TeamEnvelope {
  return refusal('BODY_TOO_LARGE', `The body is larger than ${limit} bytes.`, 'Send less at once.', { field: 'body' });
}

export function malformedToken(): TeamEnvelope {
  return refusal('MALFORMED_TOKEN', 'The token has characters that no token has.', 'Use the token as `covenant tokens create` printed it: cv_…');
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
