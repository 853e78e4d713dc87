import { workspaceFlag } from '../../kernel/ids.ts';
import { Refusal } from '../../kernel/reply.ts';
import { shellQuoted } from '../../wire/shell-quoted.ts';
import { afterCompletion, afterHandoff, type Phase, producersFor } from './machine.ts';
import { type HandoffPayload, requirePayload } from './payload.ts';
import type { StoredCycle } from './store.ts';
import { sameSecret } from './tokens.ts';

/** What the rules in this file need to know about a cycle. They decide which role may do what in which phase, throw refusals and change nothing. */
export type JudgedCycle = Pick<
  StoredCycle,
  'workspace_id' | 'repository' | 'cycle_id' | 'feature' | 'phase' | 'active_role' | 'lock_role' | 'lock_token' | 'machine'
>;

export function judgeAcquire(cycle: JudgedCycle | undefined, repository: string, role: string): JudgedCycle {
  const active = requireCycle(cycle, repository);
  requireTurn(active, role);
  return active;
}

export interface TurnHandoff {
  readonly target: string;
  readonly payload: unknown;
  readonly lock_token: string;
  /** Values that the payload must not contain. */
  readonly secrets: readonly string[];
}

/** The contract defines the order of the checks: cycle, target, phase, producer, active role, role of the lock, lock token, payload. */
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

/** The phase after `cycle.complete`. Throws if the current phase does not allow this call. */
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

/** Returns the command that cancels the active cycle of a repository. `flag`: the `--workspace` option of the command, with a space before it. */
export const cancelCommand = (repository: string, flag: string): string => `covenant cycle cancel --repo ${shellQuoted(repository)}${flag} --reason TEXT`;

export function requireFinal(cycle: JudgedCycle): void {
  const { phase, machine } = cycle;
  if (phase === machine.final) return;
  const message = `The cycle is in the phase ${phase}. It can be archived only in ${machine.final}.`;
  throw new Refusal('ARCHIVE_NOT_ALLOWED', message, `${callsInPhase(cycle)} Archive it after cycle.complete.`, { phase });
}

export function requireCycle<C extends JudgedCycle>(cycle: C | undefined, repository: string): C {
  if (cycle) return cycle;
  throw new Refusal(
    'NO_ACTIVE_CYCLE',
    `No cycle is active in ${repository}.`,
    'Call cycle.start with `feature` to start one, or run `covenant cycle start --feature TEXT`.',
  );
}

/** The message does not repeat the input, because a caller who confuses two fields may have sent a secret. */
export function requireTarget(roles: readonly string[], target: string): void {
  if (roles.includes(target)) return;
  throw new Refusal('INVALID_TARGET', 'No role of this repository has the name in `target`.', `Repeat the call with \`target\` set to ${roles.join(' or ')}.`, {
    field: 'target',
    roles,
  });
}

function requireTurn(cycle: JudgedCycle, role: string): void {
  if (cycle.active_role !== role) throw lockDenied('role is not active for the current phase', cycle, role);
  if (cycle.lock_role !== role) throw lockDenied('the lock is not held by the active role', cycle, role);
}

function requireToken(cycle: JudgedCycle, role: string, token: string): void {
  if (sameSecret(cycle.lock_token, token)) return;
  throw lockDenied('the lock token is not the current one', cycle, role);
}

function lockDenied(message: string, { workspace_id, repository, active_role: activeRole, lock_role: lockRole }: JudgedCycle, requestedRole: string): Refusal {
  return new Refusal('LOCK_DENIED', message, nextStep(), { activeRole, requestedRole });

  function nextStep(): string {
    if (activeRole !== requestedRole)
      return `It is the turn of ${activeRole}. Call cycle.status until \`active_role\` is ${requestedRole}, then call lock.acquire with your \`session_token\`.`;
    // This happens only if somebody has manipulated the store. lock.acquire would be refused too.
    if (lockRole !== activeRole)
      return `Ask the operator to run \`${cancelCommand(repository, workspaceFlag(workspace_id))}\`: the lock of this cycle is inconsistent.`;
    return `Call lock.acquire with your \`session_token\` of ${activeRole}, then repeat the call with the \`lock_token\` that it returns.`;
  }
}

function wrongPhase(cycle: JudgedCycle, what: string): Refusal {
  const { phase } = cycle;
  return new Refusal('INVALID_PHASE', `The phase ${phase} does not allow ${what}.`, callsInPhase(cycle), { phase });
}

/** Describes which calls the active role can make in this phase. */
function callsInPhase({ phase, machine, active_role }: JudgedCycle): string {
  const ways = machine.transitions.filter(({ from }) => from === phase);
  const calls = ways.map(({ target }) => (target ? `handoff.write with \`target\` ${target}` : 'cycle.complete'));
  return `In this phase ${active_role} can call ${calls.join(', or ') || 'cycle.archive'}.`;
}
