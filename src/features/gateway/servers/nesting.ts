/** Real data is nested less deeply. JSON serialization overflows the stack only at a far greater depth. */
export const MAX_LEVELS = 1_000;

/** Whether a value is nested so deeply that it could be parsed, but not serialized again for the caller. */
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
