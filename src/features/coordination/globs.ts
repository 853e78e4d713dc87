/**
 * Path patterns: `?` is one character of a name, `*` any run of them, a segment `**` any number of segments. Everything else,
 * brackets too, stands for itself: directories called `[id]` exist.
 */
export interface Glob {
  readonly segments: readonly (typeof ANY_DEPTH | Segment)[];
}
const ANY_DEPTH = '**';
/** By code points, so that `?` is one character to whoever wrote it. */
type Segment = readonly string[];

export const hasWildcard = (text: string): boolean => /[*?]/.test(text);

export function parseGlob(pattern: string): Glob {
  return { segments: pattern.split('/').map((segment) => (segment === ANY_DEPTH ? ANY_DEPTH : [...segment.replace(/\*+/g, '*')])) };
}

export function matches(glob: Glob, path: string): boolean {
  const names = path.split('/').map((name) => [...name]);
  return meet({ length: glob.segments.length, loops: (i) => glob.segments[i] === ANY_DEPTH }, { length: names.length, loops: () => false }, (i, j) =>
    nameMatches(glob.segments[i] as Segment, names[j] as string[]),
  );
}

/** Whether some path matches both. Exact: as there is always one more letter, wildcards can be given whatever the other asks. */
export function overlap(a: Glob, b: Glob): boolean {
  return meet(
    { length: a.segments.length, loops: (i) => a.segments[i] === ANY_DEPTH },
    { length: b.segments.length, loops: (j) => b.segments[j] === ANY_DEPTH },
    (i, j) => namesOverlap(a.segments[i] as Segment, b.segments[j] as Segment),
  );
}

const nameMatches = (pattern: Segment, name: readonly string[]): boolean =>
  meet(looping(pattern), { length: name.length, loops: () => false }, (i, j) => pattern[i] === '?' || pattern[i] === name[j]);

const namesOverlap = (a: Segment, b: Segment): boolean => meet(looping(a), looping(b), (i, j) => a[i] === '?' || b[j] === '?' || a[i] === b[j]);

const looping = (segment: Segment): Side => ({ length: segment.length, loops: (i) => segment[i] === '*' });

/** A row of parts, of which some take any number of the other side's parts. */
interface Side {
  readonly length: number;
  loops(place: number): boolean;
}

/**
 * Whether both rows can be read to their ends together. `possible[j]` is whether they can from (i, j) on; worked out from the
 * ends backwards, each pair of places once, so that no pattern takes long.
 */
function meet(a: Side, b: Side, pairs: (i: number, j: number) => boolean): boolean {
  let below: boolean[] = [];
  for (let i = a.length; i >= 0; i--) {
    const possible: boolean[] = [];
    for (let j = b.length; j >= 0; j--) {
      const loops = (i < a.length && a.loops(i)) || (j < b.length && b.loops(j));
      if (i === a.length && j === b.length) possible[j] = true;
      // A loop ends, or takes the other side's next part: either way one side moves on alone.
      else if (loops) possible[j] = below[j] === true || possible[j + 1] === true;
      else possible[j] = i < a.length && j < b.length && below[j + 1] === true && pairs(i, j);
    }
    below = possible;
  }
  return below[0] === true;
}
