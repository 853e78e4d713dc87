import { Refusal } from '../../kernel/reply.ts';
import { afterCompletion, afterHandoff, type Phase, producersFor } from './machine.ts';
import { type HandoffPayload, requirePayload } from './payload.ts';
import type { StoredCycle } from './store.ts';
import { sameSecret } from './tokens.ts';

/** The rules of who may do what in which phase read this. Each returns what follows or throws the refusal; none changes anything. */
export type JudgedCycle = Pick<StoredCycle, 'repository' | 'cycle_id' | 'feature' | 'phase' | 'active_role' | 'lock_role' | 'lock_token' | 'machine'>;

export function judgeAcquire(cycle: JudgedCycle | undefined, repository: string, role: string): JudgedCycle {
  const active = requireCycle(cycle, repository);
  requireTurn(active, role);
  return active;
}

export interface TurnHandoff {
  readonly target: string;
  readonly payload: unknown;
  readonly lock_token: string;
  /** No payload may contain them. */
  readonly secrets: readonly string[];
}

/** In the contract's order: cycle, target, phase, producer, active role, lock's role, lock token, payload. */
export function judgeHandoff(found: JudgedCycle | undefined, repository: string, role: string, input: TurnHandoff): { to: Phase; payload: HandoffPayload } {
  const cycle = requireCycle(found, repository);
  const { machine, phase } = cycle;
  requireTarget(machine.roles, input.target);
  const to = afterHandoff(machine, phase, input.target);
  if (!to) throw wrongPhase(cycle, `a handoff to ${input.target}`);
  if (!producersFor(machine, input.target).has(role)) throw lockDenied(`${role} does not hand over to ${input.target}`, cycle, role);
  requireTurn(cycle, role);
  requireToken(cycle, role, input.lock_token);
  const { cycle_id, feature } = cycle;
  return { to, payload: requirePayload(input.payload, { cycle_id, feature, producer: role, consumer: input.target }, input.secrets) };
}

export function judgeCompletion(found: JudgedCycle | undefined, repository: string, role: string, lockToken: string): Phase {
  const cycle = requireCycle(found, repository);
  const to = completionOf(cycle);
  requireTurn(cycle, role);
  requireToken(cycle, role, lockToken);
  return to;
}

/** The phase that completing leads to. */
export function completionOf(cycle: JudgedCycle): Phase {
  const to = afterCompletion(cycle.machine, cycle.phase);
  if (!to) throw wrongPhase(cycle, 'completing the cycle');
  return to;
}

export function judgeArchive(found: JudgedCycle | undefined, repository: string, role: string, lockToken: string): void {
  const cycle = requireCycle(found, repository);
  requireFinal(cycle);
  requireTurn(cycle, role);
  requireToken(cycle, role, lockToken);
}

export function requireFinal({ phase, machine }: JudgedCycle): void {
  if (phase === machine.final) return;
  throw new Refusal('ARCHIVE_NOT_ALLOWED', `The cycle is in the phase ${phase}, and is archived from ${machine.final} alone.`, 'Call cycle.complete first.', {
    phase,
  });
}

export function requireCycle<C extends JudgedCycle>(cycle: C | undefined, repository: string): C {
  if (cycle) return cycle;
  throw new Refusal('NO_ACTIVE_CYCLE', `No cycle is active in ${repository}.`, 'Start one with cycle.start.');
}

/** Does not repeat the input: a caller who confused two fields has put a secret there. */
export function requireTarget(roles: readonly string[], target: string): void {
  if (roles.includes(target)) return;
  throw new Refusal('INVALID_TARGET', 'There is no such role to hand over to.', `Use one of ${roles.join(', ')}.`, { field: 'target', roles });
}

function requireTurn(cycle: JudgedCycle, role: string): void {
  if (cycle.active_role !== role) throw lockDenied('role is not active for the current phase', cycle, role);
  if (cycle.lock_role !== role) throw lockDenied('the lock is not held by the active role', cycle, role);
}

function requireToken(cycle: JudgedCycle, role: string, token: string): void {
  if (sameSecret(cycle.lock_token, token)) return;
  throw lockDenied('the lock token is not the current one', cycle, role);
}

function lockDenied(message: string, { active_role: activeRole }: JudgedCycle, requestedRole: string): Refusal {
  const next =
    activeRole === requestedRole
      ? `Call lock.acquire with your session of ${activeRole} and use the token that it returns.`
      : `It is the turn of ${activeRole}: wait until cycle.status names ${requestedRole} as active_role, then call lock.acquire.`;
  return new Refusal('LOCK_DENIED', message, next, { activeRole, requestedRole });
}

function wrongPhase({ phase, machine }: JudgedCycle, what: string): Refusal {
  const ways = machine.transitions.filter(({ from }) => from === phase).map(({ target }) => (target ? `a handoff to ${target}` : 'cycle.complete'));
  const next = ways.length > 0 ? `In this phase: ${ways.join(', or ')}.` : 'In this phase: cycle.archive.';
  return new Refusal('INVALID_PHASE', `The phase ${phase} does not allow ${what}.`, next, { phase });
}
