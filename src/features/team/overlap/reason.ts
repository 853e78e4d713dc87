import { beginning } from '../../../kernel/excerpt.ts';
import type { Scored } from './score.ts';

const MAX_CHARACTERS = 200;
const MAX_FILES = 2;
const MAX_WORDS = 5;

/** Explains to people why two tasks look alike. `querySurfaces` (from `surfaces`) turns stems back into words. */
export function reasonFor(scored: Scored, querySurfaces: ReadonlyMap<string, string>): string {
  const parts: string[] = [];
  if (scored.sharedFiles.length > 0) parts.push(`same ${scored.sharedFiles.length === 1 ? 'file' : 'files'}: ${listed(scored.sharedFiles, MAX_FILES)}`);
  else if (scored.files > 0) parts.push('files with the same name or folder');
  const words = [...new Set(scored.sharedTerms.map((term) => querySurfaces.get(term) ?? term).map(lowered))];
  if (words.length > 0 && (scored.textualEvidence || parts.length === 0)) parts.push(`both about: ${words.slice(0, MAX_WORDS).join(', ')}`);
  if (scored.embedding !== null && scored.embedding > 0 && scored.tfidf < EVIDENT && (scored.textualEvidence || words.length === 0))
    parts.push('similar meaning in other words');
  return beginning(parts.join('; ') || 'little in common', MAX_CHARACTERS);
}

/** If the TF-IDF cosine is below this value, the shared words alone do not explain the match. */
const EVIDENT = 0.1;

function listed(files: readonly string[], count: number): string {
  const more = files.length - count;
  return `${files.slice(0, count).map(tail).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Shortens a path at its beginning, because its end is more informative. */
const tail = (path: string): string => (path.length <= 60 ? path : `…${path.slice(-59)}`);

/** Removes the capital letter of a word that began a sentence. Names with other capital letters, such as `OAuth`, stay unchanged. */
const lowered = (word: string): string => (/^\p{Lu}\p{Ll}*$/u.test(word) ? word.toLowerCase() : word);
