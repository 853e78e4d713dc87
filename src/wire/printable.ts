/**
 * Control characters control a terminal; format characters (bidi, zero width, tags) hide or reorder text. Both are escaped like in JSON, unit by
 * unit, so that a line of JSON keeps its meaning.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const written = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** Multi-line text for a terminal or a log: line ends and tabs stay. */
export const printable = (text: string): string =>
  text.replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : written(character)));

/** Text that must stay on one line: escapes line ends and tabs, too. */
export const printableLine = (text: string): string => text.replace(HIDDEN, written);
