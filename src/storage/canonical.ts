/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code unit, ECMAScript number and string forms, no white space.
 * Written here rather than imported because it runs for every event of every call; a property test holds it against
 * the `canonicalize` package.
 */
export function canonicalJson(value: unknown): string {
  // What has its keys in order already is canonical as the engine itself writes it, and several times faster.
  if (isOrdered(value)) {
    const text = JSON.stringify(value);
    if (!text.includes('\\ud')) return text;
  }
  return writeCanonical(value);
}

/** Whether every object in it lists its keys in canonical order, and nothing in it is more than JSON can say. */
function isOrdered(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' || typeof value === 'boolean' || value === null || Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isOrdered);
  let last = '';
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (key < last || (inner !== undefined && !isOrdered(inner))) return false;
    last = key;
  }
  return true;
}

function writeCanonical(value: unknown): string {
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
  return `[${values.map((value) => (value === undefined ? 'null' : writeCanonical(value))).join(',')}]`;
}

function objectJson(object: Record<string, unknown>): string {
  const keys = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort();
  return `{${keys.map((key) => `${quote(key)}:${writeCanonical(object[key])}`).join(',')}}`;
}

/** Half a surrogate pair has no canonical form; it becomes U+FFFD, as it would on its way into any UTF-8 store. */
function quote(text: string): string {
  return JSON.stringify(text.toWellFormed());
}
