import { diffArrays } from 'diff';

/** A piece of text that is in both, only in the older or only in the newer one. */
export interface WordPiece {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Beyond this many words taken out and put in the middle is shown as replaced: a person would not follow it word by word either. */
const MAX_CHANGED = 2_000;

/** The fewest words taken out and put in that make `after` of `before`. Joined, the pieces give both texts exactly. */
export function wordDifference(before: string, after: string): WordPiece[] {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const changes = diffArrays(old, now, { maxEditLength: MAX_CHANGED });
  if (!changes) return replaced(old, now);
  return changes.map(({ added, removed, value }) => piece(added ? 'added' : removed ? 'removed' : 'same', value));
}

/** Words, numbers, runs of spaces, and everything else character by character. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{M}\p{N}_]+|[ \n]+|./gsu) ?? [];

const piece = (kind: WordPiece['kind'], words: readonly string[]): WordPiece => ({ kind, text: words.join('') });

/** All but what both begin and end with. */
function replaced(old: readonly string[], now: readonly string[]): WordPiece[] {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const [oldEnd, newEnd] = [old.length - end, now.length - end];
  const pieces = [piece('same', old.slice(0, start)), piece('removed', old.slice(start, oldEnd)), piece('added', now.slice(start, newEnd))];
  return [...pieces, piece('same', old.slice(oldEnd))].filter(({ text }) => text !== '');
}
