/** The one reply type behind every envelope. */
export type Reply<T> = Ok<T> | Refused<T>;

export interface Ok<T> {
  readonly status: 'ok';
  readonly message: string;
  readonly data: T;
}

/** A warning did what was asked; blocked and error did not. Each says by a stable code what happened and what to do. */
export interface Refused<T = Record<string, unknown>> {
  readonly status: 'warning' | 'blocked' | 'error';
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly data: T | Record<string, unknown>;
}

export const ok = <T>(data: T, message = 'Done.'): Ok<T> => ({ status: 'ok', message, data });

export const refused = <T extends Record<string, unknown>>(status: Refused['status'], code: string, message: string, next: string, data?: T): Refused<T> => ({
  status,
  code,
  message,
  next,
  data: data ?? {},
});
