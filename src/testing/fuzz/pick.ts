/** A placeholder in generated input. When the call is made, it is replaced by an existing value from this pool with this owner. */
export class Pick {
  readonly pool: string;
  readonly whose: Whose;
  readonly n: number;

  constructor(pool: string, whose: Whose, n: number) {
    this.pool = pool;
    this.whose = whose;
    this.n = n;
  }
}

/** `mine`: belongs to the caller's developer. `elsewhere`: belongs to another workspace. */
export const WHOSE = ['mine', 'any', 'others', 'elsewhere', 'invented'] as const;
export type Whose = (typeof WHOSE)[number];

/** The same input with its placeholders resolved. */
export function resolved(value: unknown, meant: (pick: Pick) => unknown): unknown {
  if (value instanceof Pick) return meant(value);
  if (Array.isArray(value)) return value.map((inner) => resolved(inner, meant));
  if (typeof value !== 'object' || value === null) return value;
  const copy = {};
  for (const [key, inner] of Object.entries(value))
    Object.defineProperty(copy, key, { value: resolved(inner, meant), enumerable: true, configurable: true, writable: true });
  return copy;
}
