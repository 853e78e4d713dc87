/**
 * A path pattern: `?` matches one character of a name, `*` any run of characters, and a segment `**` any number of segments. All other
 * characters are literal. Brackets are literal too, because some projects have directories such as `[id]`.
 */
export interface Glob {
  readonly segments: Row<Name>;
}

/** A name in a path: literal, or a pattern. */
type Name = string | Row<string>;

/** A sequence of parts. `ANY` matches any number of parts of the row that it is compared with. */
interface Row<T> {
  readonly parts: readonly (T | typeof ANY)[];
  /** The number of parts before the first `ANY` and after the last; `head` is -1 if there is no `ANY`. */
  readonly head: number;
  readonly tail: number;
}
const ANY = null;
/** Represents `?`. The empty string differs from every character that a name can contain. */
const ONE = '';

export const hasWildcard = (text: string): boolean => /[*?]/.test(text);

export function parseGlob(pattern: string): Glob {
  return { segments: rowOf(segmentsOf(pattern).map((segment) => (segment === '**' ? ANY : nameOf(segment)))) };
}

/** Parses the path of an actual file. All its characters are literal, even `*` and `?`. */
export const pathOf = (path: string): Glob => ({ segments: rowOf<Name>(segmentsOf(path)) });

/** Splits a path into normalised names. Without this, the same file could have two names, because systems encode accented letters differently. */
const segmentsOf = (path: string): string[] => path.normalize('NFC').split('/');

/** Extends a pattern so that it also matches everything below the paths that it matches. */
export const withBeneath = ({ segments }: Glob): Glob => ({ segments: rowOf([...segments.parts, ANY]) });

/** Splits a pattern into code points, so that `?` cannot match half of a surrogate pair. */
const nameOf = (segment: string): Name =>
  hasWildcard(segment) ? rowOf([...segment].map((character) => (character === '*' ? ANY : character === '?' ? ONE : character))) : segment;

const rowOf = <T>(parts: readonly (T | typeof ANY)[]): Row<T> => ({
  parts,
  head: parts.indexOf(ANY),
  tail: parts.length - 1 - parts.lastIndexOf(ANY),
});

export const matches = (glob: Glob, path: string): boolean => overlap(glob, pathOf(path));

/** Whether some path matches both patterns. The result is exact, because a wildcard can match any text that the other pattern needs. */
export const overlap = (a: Glob, b: Glob): boolean => meet(a.segments, b.segments, sameName);

function sameName(a: Name, b: Name): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a === b;
  return meet(typeof a === 'string' ? rowOf([...a]) : a, typeof b === 'string' ? rowOf([...b]) : b, sameCharacter);
}

const sameCharacter = (a: string, b: string): boolean => a === b || a === ONE || b === ONE;

type Same<T> = (a: T, b: T) => boolean;

/**
 * Whether some sequence matches both rows. If both have an `ANY`, each `ANY` can match the middle of the other row, so only the parts before
 * and after must agree. This must stay fast, because it runs inside the write transaction, where a slow pattern would block all writers.
 */
function meet<T>(a: Row<T>, b: Row<T>, same: Same<T>): boolean {
  if (a.head < 0 && b.head < 0) return a.parts.length === b.parts.length && agree(a, b, a.parts.length, 0, same);
  if (a.head < 0) return takes(b, a, same);
  if (b.head < 0) return takes(a, b, same);
  return agree(a, b, Math.min(a.head, b.head), Math.min(a.tail, b.tail), same);
}

/** Whether the `first` leading parts and the `last` trailing parts are the same. */
function agree<T>(a: Row<T>, b: Row<T>, first: number, last: number, same: Same<T>): boolean {
  for (let i = 0; i < first; i++) if (!same(a.parts[i] as T, b.parts[i] as T)) return false;
  for (let i = 1; i <= last; i++) if (!same(a.parts.at(-i) as T, b.parts.at(-i) as T)) return false;
  return true;
}

/** Whether a row with `ANY` matches a row without it. Each part between two `ANY` is matched at the earliest possible position. */
function takes<T>(open: Row<T>, fixed: Row<T>, same: Same<T>): boolean {
  const { head, tail, parts } = open;
  const end = fixed.parts.length - tail;
  if (end < head || !agree(open, fixed, head, tail, same)) return false;
  let at = head;
  for (let from = head + 1; from < parts.length - tail; ) {
    const length = parts.indexOf(ANY, from) - from;
    while (at + length <= end && !standsAt(at, from, length)) at++;
    if (at + length > end) return false;
    at += length;
    from += length + 1;
  }
  return true;

  function standsAt(place: number, from: number, length: number): boolean {
    for (let i = 0; i < length; i++) if (!same(parts[from + i] as T, fixed.parts[place + i] as T)) return false;
    return true;
  }
}
