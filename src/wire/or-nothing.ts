/** What may not be looked at must not make anything fail that has nothing to do with it. */
export function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
