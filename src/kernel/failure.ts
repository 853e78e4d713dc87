import { OutcomeUnknown, SchemaMismatch, StoreBusy, StoreClosed, StoreUnwritable, WriteWithdrawn } from '../storage/errors.ts';
import { Refusal, type Refused, refused } from './reply.ts';

/** The parts of a failed call that are stored, so that the refusal must not say that nothing was written. */
interface Stays {
  /** Something of what it was to do. */
  readonly kept?: boolean;
  /** A use of its grant. */
  readonly counted?: boolean;
}

/** The one translation of what was thrown into what is answered. Faults say nothing of their inside. */
export function replyTo(error: unknown, reference: string, { kept = false, counted = false }: Stays = {}): Refused {
  const written = counted ? 'nothing was written but this use of the grant' : 'nothing was written';
  if (error instanceof Refusal) return refused('error', error.code, error.message, error.next, error.details);
  if (error instanceof OutcomeUnknown || (kept && (error instanceof StoreBusy || error instanceof StoreUnwritable))) {
    return refused(
      'error',
      'OUTCOME_UNKNOWN',
      'The database was lost on the way: the change may or may not have been made.',
      'Read the state before you call again.',
    );
  }
  if (error instanceof StoreBusy) {
    return refused('error', 'STORE_BUSY', `The database is busy; ${written}.`, 'Call again in a few seconds.');
  }
  if (error instanceof StoreUnwritable) {
    const message = `The database cannot be written, because its disk is full or fails; ${written}.`;
    return refused('error', 'STORE_UNWRITABLE', message, "Free space on the server's disk, then call again.");
  }
  if (error instanceof WriteWithdrawn) return replyTo(error.cause, reference);
  if (error instanceof StoreClosed) {
    if (kept) return refused('error', 'SHUTTING_DOWN', 'The server is stopping.', 'Read the state when it is back, then call again.');
    return refused('error', 'SHUTTING_DOWN', `The server is stopping; ${written}.`, 'Call again when it is back.');
  }
  if (error instanceof SchemaMismatch) {
    return refused('error', 'SCHEMA_MISMATCH', error.message, 'Run `covenant doctor`.');
  }
  return refused(
    'error',
    'INTERNAL',
    `The server failed to handle this call (reference ${reference}).`,
    `Look for ${reference} in the server's log, or call again.`,
  );
}

/** Whether the failure is ours, and so belongs in the log with its stack. */
export function isFault(reply: Refused): boolean {
  return ['INTERNAL', 'OUTCOME_UNKNOWN', 'STORE_UNWRITABLE'].includes(reply.code);
}
