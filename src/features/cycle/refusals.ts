import { Refusal } from '../../kernel/reply.ts';
import { FOLDER } from './config.ts';

/** What the contract refuses, in its own codes. */

export const configInvalid = (repository: string, why: string, next: string): Refusal =>
  new Refusal('CONFIG_INVALID', `${repository}/${FOLDER}/config.json: ${why}.`, next);

export const authFailed = (role: string): Refusal =>
  new Refusal('AUTH_FAILED', 'Invalid role credentials.', `Use the psk that ${FOLDER}/config.json has for ${role}.`, { role });

export const authSlowed = (role: string, waitMs: number): Refusal =>
  new Refusal('AUTH_FAILED', 'Invalid role credentials.', `Too many wrong PSKs: try again in ${Math.ceil(waitMs / 1000)} s.`, { role, retry_after_ms: waitMs });

// Neither says again what was given: whoever confuses two fields has put a secret there.
export const invalidRole = (roles: readonly string[]): Refusal =>
  new Refusal('INVALID_ROLE', 'There is no such role.', `Use one of ${roles.join(', ')}.`, { field: 'role', roles });

export const invalidTarget = (roles: readonly string[]): Refusal =>
  new Refusal('INVALID_TARGET', 'There is no such role to hand over to.', `Use one of ${roles.join(', ')}.`, { field: 'target', roles });

export const invalidSession = (why: string): Refusal =>
  new Refusal('INVALID_SESSION', `The session token ${why}.`, 'Call session.open again for your role and use the new session_token.', {
    field: 'session_token',
  });

export const noActiveCycle = (repository: string): Refusal =>
  new Refusal('NO_ACTIVE_CYCLE', `No cycle is active in ${repository}.`, 'Start one with cycle.start.');

export const hasEnded = (cycle_id: string): Refusal =>
  new Refusal('NO_ACTIVE_CYCLE', `The cycle ${cycle_id} has ended.`, 'There is nothing left to do with it: covenant cycle history says how it ended.', {
    cycle_id,
  });

export const alreadyActive = (repository: string, cycle_id: string | null): Refusal =>
  new Refusal(
    'CYCLE_ALREADY_ACTIVE',
    cycle_id === null ? `Another workspace has an active cycle in ${repository}.` : `The cycle ${cycle_id} is active in ${repository}.`,
    cycle_id === null
      ? 'Wait for it to end, or let the operator cancel it there.'
      : 'Complete and archive it first, or let the operator run: covenant cycle cancel --reason TEXT.',
    { cycle_id },
  );

interface Asking {
  readonly activeRole: string;
  readonly requestedRole: string;
}

export const notActive = (turn: Asking): Refusal => lockDenied('role is not active for the current phase', turn);

export function lockDenied(message: string, { activeRole, requestedRole }: Asking): Refusal {
  const next =
    activeRole === requestedRole
      ? `Call lock.acquire with your session of ${activeRole} and use the token that it returns.`
      : `It is the turn of ${activeRole}: wait until cycle.status names ${requestedRole} as active_role, then call lock.acquire.`;
  return new Refusal('LOCK_DENIED', message, next, { activeRole, requestedRole });
}
