import { hash } from 'node:crypto';
import { canonicalJson } from '../storage/canonical.ts';
import type { NewEvent } from '../storage/journal.ts';
import type { Call } from './call.ts';
import { excerpt } from './excerpt.ts';
import { isRecord } from './input.ts';
import type { CallKind } from './ports.ts';
import type { Refused, Reply } from './reply.ts';

/** One usage event whatever happened; a warning or block is also feedback, so that it can be looked up later. */
export function callRecords(call: Call, operation: string | undefined, reply: Reply<unknown>, outcome: string): NewEvent[] {
  const usage = usageEvent(call, operation, reply, outcome);
  if (reply.status !== 'warning' && reply.status !== 'blocked') return [usage];
  const payload = { type: reply.status === 'blocked' ? 'block' : 'warning', code: reply.code, message: reply.message, required_action: reply.next };
  return [usage, { ...usage, category: 'feedback', payload: { ...payload, request_id: call.requestId } }];
}

const KINDS: Record<CallKind, (name: string) => string> = {
  tool: (name) => name,
  action: (name) => name,
  resource: () => 'resource.read',
  prompt: () => 'prompt.get',
};

function usageEvent(call: Call, operation: string | undefined, reply: Reply<unknown>, outcome: string): NewEvent {
  const kind = call.aside ? `${call.noun}.${call.aside}` : KINDS[call.noun](call.name);
  return {
    category: 'usage',
    kind: operation ? `${kind}.${operation}` : kind,
    actor: call.principal.actor,
    subject: `${call.noun}:${call.name}`,
    session: call.session,
    // In the order of canonical JSON, which is then quick to write.
    payload: {
      approval_id: call.approval ?? undefined,
      arguments_sha256: call.argsDigest,
      circumstances: call.circumstances,
      code: reply.status === 'ok' ? undefined : reply.code,
      correlation: call.correlation,
      duration_ms: Math.round((performance.now() - call.started) * 10) / 10,
      grant: call.grant,
      outcome,
      request_id: call.requestId,
      server: call.server,
      surface: call.surface,
      token_id: call.principal.tokenId,
      // A warning or block is told by its feedback event.
      told: reply.status === 'error' && !ECHOES.has(reply.code) ? told(reply) : undefined,
    },
  };
}

const TOLD_BYTES = 600;

/** Their words repeat what was sent or what a person wrote: arguments are not kept. */
const ECHOES = new Set(['INVALID_INPUT', 'APPROVAL_REFUSED']);

/** What the caller read: people ask later why an agent did not go on. */
const told = ({ message, next }: Refused<unknown>) => ({ message: excerpt(message, TOLD_BYTES), required_action: excerpt(next, TOLD_BYTES) });

/** The arguments as they may be kept and shown. Even the digest of a short secret would tell it to whoever has the time to guess. */
export function withoutSecrets(args: unknown, secrets: readonly string[]): unknown {
  if (secrets.length === 0 || !isRecord(args)) return args;
  return Object.fromEntries(Object.entries(args).map(([field, value]) => [field, secrets.includes(field) ? '[redacted]' : value]));
}

export function argumentsDigest(args: unknown): string | null {
  try {
    return hash('sha256', canonicalJson(args ?? {}));
  } catch {
    // Not canonical JSON (half a surrogate pair, nesting without end): the parser will refuse it by name.
    return null;
  }
}
