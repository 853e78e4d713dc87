/** More than anybody sends in earnest, and far from where writing it down as JSON runs out of stack. */
export const MAX_LEVELS = 1_000;

/** Some JSON can be read but not written again: it would be lost on its way to the caller. */
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
