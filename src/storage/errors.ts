/** Base class of storage errors. The kernel converts them into replies. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
}

/** Another process locked the database for longer than the wait limit. Nothing was written. */
export class StoreBusy extends StoreError {
  override readonly name = 'StoreBusy';
}

/** The disk is full or failing. Nothing was written. */
export class StoreUnwritable extends StoreError {
  override readonly name = 'StoreUnwritable';
}

/** The connection was lost or the disk failed during the commit: the write may or may not have happened. */
export class OutcomeUnknown extends StoreError {
  override readonly name = 'OutcomeUnknown';
}

export class StoreClosed extends StoreError {
  override readonly name = 'StoreClosed';
}

/** This version can migrate an `older` schema, but an `obsolete` schema is too old to migrate. A `foreign` schema belongs to another program. */
export type MismatchWhy = 'older' | 'obsolete' | 'newer' | 'foreign';

/** The schema in the database does not match this program. The message names the difference and the fix. */
export class SchemaMismatch extends StoreError {
  override readonly name = 'SchemaMismatch';
  readonly why: MismatchWhy;
  constructor(why: MismatchWhy, message: string) {
    super(message);
    this.why = why;
  }
}

/** The caller timed out or disconnected while its write was waiting in the queue. Nothing was written. */
export class WriteWithdrawn extends StoreError {
  override readonly name = 'WriteWithdrawn';
}
