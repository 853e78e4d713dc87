/** An error of the store. The kernel translates it into a reply. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
}

/** Another process held the database longer than the wait limit. Nothing was written. */
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

/** This program can migrate an `older` schema, but not an `obsolete` one. A `foreign` schema belongs to another program. */
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

/** The caller left (timeout, disconnect) before its turn in the queue. Nothing was written. */
export class WriteWithdrawn extends StoreError {
  override readonly name = 'WriteWithdrawn';
}
