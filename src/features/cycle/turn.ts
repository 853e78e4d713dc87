import { Refusal } from '../../kernel/reply.ts';
import { afterCompletion, afterHandoff, type Phase, producersFor } from './machine.ts';
import { type HandoffPayload, requirePayload } from './payload.ts';
import { invalidTarget, lockDenied, noActiveCycle, notActive } from './refusals.ts';
import { sameSecret } from './role-sessions.ts';
import type { StoredCycle } from './store.ts';

/** Who may do what in which phase. Each rule answers what follows, or throws the refusal; none changes anything. */

export type Turned = Pick<StoredCycle, 'repository' | 'cycle_id' | 'feature' | 'phase' | 'active_role' | 'lock_role' | 'lock_token' | 'machine'>;

export function judgeAcquire(cycle: Turned | undefined, repository: string, role: string): Turned {
  if (!cycle) throw noActiveCycle(repository);
  requireTurn(cycle, role);
  return cycle;
}

export interface TurnHandoff {
  readonly target: string;
  readonly payload: unknown;
  readonly lock_token: string;
  /** What no payload may tell. */
  readonly secrets: readonly string[];
}

/** In the contract's order: cycle, target, phase, producer, active role, lock's role, lock token, payload. */
export function judgeHandoff(cycle: Turned | undefined, repository: string, role: string, input: TurnHandoff): { to: Phase; payload: HandoffPayload } {
  if (!cycle) throw noActiveCycle(repository);
  const { machine, phase } = cycle;
  if (!machine.roles.includes(input.target)) throw invalidTarget(machine.roles);
  const to = afterHandoff(machine, phase, input.target);
  if (!to) throw wrongPhase(cycle, `a handoff to ${input.target}`);
  if (!producersFor(machine, input.target).has(role)) {
    throw lockDenied(`${role} does not hand over to ${input.target}`, { activeRole: cycle.active_role, requestedRole: role });
  }
  requireTurn(cycle, role);
  requireToken(cycle, role, input.lock_token);
  const { cycle_id, feature } = cycle;
  return { to, payload: requirePayload(input.payload, { cycle_id, feature, producer: role, consumer: input.target }, input.secrets) };
}

export function judgeCompletion(cycle: Turned | undefined, repository: string, role: string, lockToken: string): Phase {
  const to = completionOf(cycle, repository);
  requireTurn(cycle as Turned, role);
  requireToken(cycle as Turned, role, lockToken);
  return to;
}

/** Where completing leads, whoever does it. */
export function completionOf(cycle: Turned | undefined, repository: string): Phase {
  if (!cycle) throw noActiveCycle(repository);
  const to = afterCompletion(cycle.machine, cycle.phase);
  if (!to) throw wrongPhase(cycle, 'completing the cycle');
  return to;
}

export function judgeArchive(cycle: Turned | undefined, repository: string, role: string, lockToken: string): void {
  requireFinal(cycle, repository);
  requireTurn(cycle as Turned, role);
  requireToken(cycle as Turned, role, lockToken);
}

export function requireFinal(cycle: Turned | undefined, repository: string): void {
  if (!cycle) throw noActiveCycle(repository);
  const { phase, machine } = cycle;
  if (phase === machine.final) return;
  throw new Refusal('ARCHIVE_NOT_ALLOWED', `The cycle is in the phase ${phase}, and is archived from ${machine.final} alone.`, 'Call cycle.complete first.', {
    phase,
  });
}

function requireTurn(cycle: Turned, role: string): void {
  const turn = { activeRole: cycle.active_role, requestedRole: role };
  if (cycle.active_role !== role) throw notActive(turn);
  if (cycle.lock_role !== role) throw lockDenied('the lock is not held by the active role', turn);
}

function requireToken(cycle: Turned, role: string, token: string): void {
  if (sameSecret(cycle.lock_token, token)) return;
  throw lockDenied('the lock token is not the current one', { activeRole: cycle.active_role, requestedRole: role });
}

function wrongPhase({ phase, machine }: Turned, what: string): Refusal {
  const ways = machine.transitions.filter(({ from }) => from === phase).map(({ target }) => (target ? `a handoff to ${target}` : 'cycle.complete'));
  const next = ways.length > 0 ? `In this phase: ${ways.join(', or ')}.` : 'In this phase: cycle.archive.';
  return new Refusal('INVALID_PHASE', `The phase ${phase} does not allow ${what}.`, next, { phase });
}
