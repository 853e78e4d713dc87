import { OutcomeUnknown, SchemaMismatch, StoreBusy, StoreClosed, StoreUnwritable, WriteWithdrawn } from '../storage/errors.ts';
import { Refusal, type Refused, refused } from './reply.ts';

/** What a failed call has stored. If it stored anything, the refusal must not say that nothing was written. */
interface Stays {
  /** True if a part of the call's work was stored. */
  readonly kept?: boolean;
  /** True if a use of the grant was counted. */
  readonly counted?: boolean;
}

/** Turns any thrown error into a refusal. For a fault of the server, the refusal reveals no internal details. */
export function replyTo(error: unknown, reference: string, { kept = false, counted = false }: Stays = {}): Refused {
  const written = counted ? 'nothing was written except this use of the grant' : 'nothing was written';
  if (error instanceof Refusal) return refused('error', error.code, error.message, error.next, error.details);
  if (error instanceof OutcomeUnknown || (kept && (error instanceof StoreBusy || error instanceof StoreUnwritable))) {
    return refused(
      'error',
      'OUTCOME_UNKNOWN',
      'The connection to the database was lost during the call: the change may or may not have been made.',
      'Check whether the change was made, and call again only if it is missing.',
    );
  }
  if (error instanceof StoreBusy) {
    return refused('error', 'STORE_BUSY', `The database is busy; ${written}.`, 'Call again in a few seconds.');
  }
  if (error instanceof StoreUnwritable) {
    const message = `The database cannot be written because its disk is full or failing; ${written}.`;
    return refused('error', 'STORE_UNWRITABLE', message, "Ask the operator to free space on the server's disk, then call again.");
  }
  if (error instanceof WriteWithdrawn) return replyTo(error.cause, reference);
  if (error instanceof StoreClosed) {
    if (kept)
      return refused(
        'error',
        'SHUTTING_DOWN',
        'The server is shutting down.',
        'When it is back, check whether the change was made, and call again only if it is missing.',
      );
    return refused('error', 'SHUTTING_DOWN', `The server is shutting down; ${written}.`, 'Call again when it is back.');
  }
  if (error instanceof SchemaMismatch) {
    return refused('error', 'SCHEMA_MISMATCH', error.message, "Ask the operator to run `covenant doctor` on the server's machine.");
  }
  return refused(
    'error',
    'INTERNAL',
    `The server failed to handle this call (reference ${reference}).`,
    `Check whether the change was made, and call again only if it is missing. If it fails again, ask the operator to search the server's log for ${reference}.`,
  );
}

/** Whether the server itself failed, so that the error must be logged with its stack. */
export function isFault(reply: Refused): boolean {
  return ['INTERNAL', 'OUTCOME_UNKNOWN', 'STORE_UNWRITABLE'].includes(reply.code);
}
