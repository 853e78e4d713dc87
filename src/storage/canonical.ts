/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code unit, ECMAScript number and string forms, no white space.
 * Written here rather than imported because it runs for every event of every call; a property test holds it against
 * the `canonicalize` package.
 */
export function canonicalJson(value: unknown): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('canonical JSON has no NaN or Infinity');
      return JSON.stringify(value);
    case 'object':
      return Array.isArray(value) ? arrayJson(value) : objectJson(value as Record<string, unknown>);
    default:
      throw new TypeError(`canonical JSON has no ${typeof value}`);
  }
}

function arrayJson(values: readonly unknown[]): string {
  return `[${values.map((value) => (value === undefined ? 'null' : canonicalJson(value))).join(',')}]`;
}

function objectJson(object: Record<string, unknown>): string {
  const keys = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort();
  return `{${keys.map((key) => `${quote(key)}:${canonicalJson(object[key])}`).join(',')}}`;
}

/** Half a surrogate pair has no canonical form; it becomes U+FFFD, as it would on its way into any UTF-8 store. */
function quote(text: string): string {
  return JSON.stringify(text.toWellFormed());
}
