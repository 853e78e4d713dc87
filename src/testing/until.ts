import { vi } from 'vitest';

/** Waits until the check passes. The time limit is long, because it only matters for checks that never pass. */
export const until = <T>(look: () => T | Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 20_000, interval: 20 });
