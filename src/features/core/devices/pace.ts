import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';

export const CODE_LASTS_MS = 10 * 60_000;
export const FIRST_INTERVAL_SECONDS = 5;
const SLOWER_BY_SECONDS = 5;
const LONGEST_INTERVAL_SECONDS = 60;
/** Timers of other machines run a little fast. */
const GRACE_MS = 500;

/** Requests of one address that are remembered at a time; a machine asks once. */
export const MOST_FROM_ONE_SOURCE = 30;
/** Of all addresses together: they can be invented without end. */
export const MOST_AT_ONCE = 1_000;

type Polled = Pick<DeviceGrantRow, 'polled_at' | 'interval_seconds'>;

export const isTooSoon = ({ polled_at, interval_seconds }: Polled, now: number): boolean =>
  polled_at !== null && now - polled_at < interval_seconds * 1_000 - GRACE_MS;

/** A machine that asks too often has to wait longer from then on. */
export const slower = (interval: number): number => Math.min(interval + SLOWER_BY_SECONDS, LONGEST_INTERVAL_SECONDS);

export type Standing = 'pending' | 'approved' | 'denied' | 'expired' | 'consumed';

/** What a request has come to: one that was answered too late was not answered. */
export function standingOf({ status, expires_at }: Pick<DeviceGrantRow, 'status' | 'expires_at'>, now: number): Standing {
  const isOpen = status === 'pending' || status === 'approved';
  return isOpen && now > expires_at ? 'expired' : status;
}
