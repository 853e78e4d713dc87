/** Faults of the store, typed where they arise; the kernel translates them into replies. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
}

/** Another process held the database longer than we were willing to wait. Nothing was written. */
export class StoreBusy extends StoreError {
  override readonly name = 'StoreBusy';
}

/** The disk is full or fails. Nothing was written. */
export class StoreUnwritable extends StoreError {
  override readonly name = 'StoreUnwritable';
}

/** The connection was lost, or the disk failed, while the commit was under way: the write may or may not have happened. */
export class OutcomeUnknown extends StoreError {
  override readonly name = 'OutcomeUnknown';
}

export class StoreClosed extends StoreError {
  override readonly name = 'StoreClosed';
}

/** The schema in the database does not fit this program; the message says which way and what to do. */
export class SchemaMismatch extends StoreError {
  override readonly name = 'SchemaMismatch';
}

/** The caller gave up (timeout, disconnect) before its turn in the queue came. Nothing was written. */
export class WriteWithdrawn extends StoreError {
  override readonly name = 'WriteWithdrawn';
}
