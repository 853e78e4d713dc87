import { diffArrays } from 'diff';

/** A piece of text that is in both versions, only in the old one, or only in the new one. */
export interface WordPiece {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/**
 * If more words than this have changed, the whole text between the common beginning and end is shown as replaced, because a person could not follow the
 * single changes.
 */
const MAX_CHANGED = 2_000;

/** Returns the smallest difference between two texts, word by word. Both texts can be restored exactly from the pieces. */
export function wordDifference(before: string, after: string): WordPiece[] {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const changes = diffArrays(old, now, { maxEditLength: MAX_CHANGED });
  if (!changes) return replaced(old, now);
  return changes.map(({ added, removed, value }) => piece(added ? 'added' : removed ? 'removed' : 'same', value));
}

/** Splits text into words, numbers, runs of spaces, and single other characters. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{M}\p{N}_]+|[ \n]+|./gsu) ?? [];

const piece = (kind: WordPiece['kind'], words: readonly string[]): WordPiece => ({ kind, text: words.join('') });

/** Returns a difference in which everything between the common beginning and the common end is replaced. */
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
