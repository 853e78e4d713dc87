/** Returns undefined instead of throwing, where an unreadable file must not make the caller fail. */
export function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
