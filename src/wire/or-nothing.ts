/** Returns undefined instead of throwing, for reads whose failure must not affect the caller. */
export function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
