import type { ReactNode } from 'react';
import { Problem } from './layout.tsx';

/** The fields of a query result that pages use. */
export interface ReadResult<T> {
  readonly data?: T | undefined;
  readonly error: Error | null;
  refetch(): unknown;
}

/** Shows the result of a query: a skeleton while it loads, then the data, or the error. `what` is the subject of the error message, such as "The limits". */
export function Loaded<T>({ query: { data, error, refetch }, what, children }: { query: ReadResult<T>; what: string; children?: (data: T) => ReactNode }) {
  return (
    <>
      {error && <Problem what={`${what} could not be loaded.`} error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <TableSkeleton />}
      {data !== undefined && children?.(data)}
    </>
  );
}

/** Shown while a table loads. */
export function TableSkeleton() {
  return (
    <div role="status" aria-label="Loading" className="grid gap-2 p-3">
      {[1, 2, 3, 4].map((line) => (
        <div key={line} className="skeleton h-5" />
      ))}
    </div>
  );
}
