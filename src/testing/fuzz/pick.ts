/** A placeholder in generated input. When the call is made, it is replaced by an existing value from the pool. `whose` restricts the owner of that value. */
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

/** `mine` stands for values of the caller's developer, and `elsewhere` for values from another workspace. `invented` values do not exist. */
export const WHOSE = ['mine', 'any', 'others', 'elsewhere', 'invented'] as const;
export type Whose = (typeof WHOSE)[number];

/** Returns the input with all placeholders replaced. */
export function resolved(value: unknown, meant: (pick: Pick) => unknown): unknown {
  if (value instanceof Pick) return meant(value);
  if (Array.isArray(value)) return value.map((inner) => resolved(inner, meant));
  if (typeof value !== 'object' || value === null) return value;
  const copy = {};
  for (const [key, inner] of Object.entries(value))
    Object.defineProperty(copy, key, { value: resolved(inner, meant), enumerable: true, configurable: true, writable: true });
  return copy;
}
