/** More than legitimate data needs, and far below the depth at which JSON serialization overflows the stack. */
export const MAX_LEVELS = 1_000;

/** Some JSON can be parsed but not serialized again, so it could not be passed on to the caller. */
export function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_LEVELS) return true;
    const next: unknown[] = [];
    for (const outer of level) {
      if (typeof outer === 'object' && outer !== null) for (const inner of Object.values(outer)) if (typeof inner === 'object') next.push(inner);
    }
    level = next;
  }
  return false;
}
