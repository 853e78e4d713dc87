import { vi } from 'vitest';

/** Waits for what must come. The limit is for what never does, not a measure of the machine. */
export const until = <T>(look: () => T | Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 20_000, interval: 20 });
