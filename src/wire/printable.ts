/**
 * Control characters can control a terminal. Format characters (bidi, zero width, tags) can hide or reorder text. Both are
 * written as JSON escapes, one for each UTF-16 unit, so that a line of JSON keeps its meaning.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const written = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** For a text with several lines on a terminal or in a log. Line ends and tabs are not escaped. */
export const printable = (text: string): string =>
  text.replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : written(character)));

/** For a text that must stay on one line. Line ends and tabs are escaped, too. */
export const printableLine = (text: string): string => text.replace(HIDDEN, written);
