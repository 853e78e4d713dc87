/** A piece of text that is in both, only in the older or only in the newer one. */
export interface WordPiece {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Beyond this many comparisons the middle is shown as replaced: a person would not follow it word by word either. */
const MAX_COMPARED = 4_000_000;

/** Words, numbers, runs of spaces, and everything else character by character. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{M}\p{N}_]+|[ \n]+|./gsu) ?? [];

/** The fewest words taken out and put in that make `after` of `before`. Joined, the pieces give both texts exactly. */
export function wordDifference(before: string, after: string): WordPiece[] {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const middle = compared(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const whole = [piece('same', old.slice(0, start)), ...middle, piece('same', end === 0 ? [] : old.slice(-end))];
  return joined(whole.filter(({ text }) => text !== ''));
}

const piece = (kind: WordPiece['kind'], words: readonly string[]): WordPiece => ({ kind, text: words.join('') });

function compared(old: readonly string[], now: readonly string[]): WordPiece[] {
  if (old.length * now.length > MAX_COMPARED) return [piece('removed', old), piece('added', now)];
  const wide = now.length + 1;
  // How many words the ends from here on have in common.
  const common = new Uint32Array((old.length + 1) * wide);
  const at = (i: number, j: number): number => common[i * wide + j] as number;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) common[i * wide + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pieces: WordPiece[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      pieces.push(piece('same', [old[i++] as string]));
      j++;
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) pieces.push(piece('removed', [old[i++] as string]));
    else pieces.push(piece('added', [now[j++] as string]));
  }
  return pieces;
}

/** Neighbours of one kind in one; between two changes what was removed stands before what was added. */
function joined(pieces: readonly WordPiece[]): WordPiece[] {
  const all: WordPiece[] = [];
  let removed = '';
  let added = '';
  const settle = (): void => {
    if (removed !== '') all.push({ kind: 'removed', text: removed });
    if (added !== '') all.push({ kind: 'added', text: added });
    removed = added = '';
  };
  for (const { kind, text } of pieces) {
    if (kind === 'removed') removed += text;
    else if (kind === 'added') added += text;
    else {
      settle();
      const last = all.at(-1);
      if (last?.kind === 'same') all[all.length - 1] = { kind, text: last.text + text };
      else all.push({ kind, text });
    }
  }
  settle();
  return all;
}
