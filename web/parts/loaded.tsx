import type { ReactNode } from 'react';
import { Problem } from './layout.tsx';

/** A read as the page sees it: any query has this shape. */
export interface ReadResult<T> {
  readonly data?: T | undefined;
  readonly error: Error | null;
  refetch(): unknown;
}

/** The result of a read: its error, a skeleton until it has ended, then the data. `what`: "The limits". */
export function Loaded<T>({ query: { data, error, refetch }, what, children }: { query: ReadResult<T>; what: string; children?: (data: T) => ReactNode }) {
  return (
    <>
      {error && <Problem what={`${what} could not be read.`} error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <TableSkeleton />}
      {data !== undefined && children?.(data)}
    </>
  );
}

/** Shown while a table is read. */
export function TableSkeleton() {
  return (
    <div role="status" aria-label="Loading" className="grid gap-2 p-3">
      {[1, 2, 3, 4].map((line) => (
        <div key={line} className="skeleton h-5" />
      ))}
    </div>
  );
}
