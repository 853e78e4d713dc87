/** Suggestions for names that people and agents mistype. */

/**
 * Returns the name that `word` most probably stands for, or undefined if no name is similar. If several names are equally
 * similar, the first of them is returned.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const typed = plain(word);
  const incomplete = typed.length < 3 ? undefined : (only(names, (name) => name.endsWith(`_${typed}`)) ?? only(names, (name) => name.startsWith(typed)));
  return incomplete ?? mistyped(typed, names);
}

/** The only name that fits, if there is exactly one. */
function only(names: readonly string[], fits: (name: string) => boolean): string | undefined {
  const [first, ...more] = names.filter((name) => fits(plain(name)));
  return more.length === 0 ? first : undefined;
}

function mistyped(typed: string, names: readonly string[]): string | undefined {
  // A third of the letters may differ. More would suggest unrelated names.
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1;
  let found: string | undefined;
  for (const name of names) {
    const distance = distanceOf(typed, plain(name));
    if (distance >= least) continue;
    least = distance;
    found = name;
  }
  return found;
}

/** Ignores differences in case and separators, because callers confuse these most often. */
const plain = (name: string): string =>
  name
    .slice(0, LONGEST)
    .toLowerCase()
    .replace(/[-.\s]/g, '_');
/** Longer words are cut to this length, because the comparison takes quadratic time and the caller chooses the word. */
const LONGEST = 100;

/** The number of letters to insert, delete, replace or swap in order to turn one word into the other. */
function distanceOf(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const steps = [at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1), ...(isSwapped ? [at(before, j - 2) + 1] : [])];
      row.push(Math.min(...steps));
    }
    [before, last] = [last, row];
  }
  return at(last, other.length);
}

const at = (row: readonly number[], index: number): number => row[index] as number;
