/**
 * Control characters steer a terminal; format characters (bidi, zero width, tags) hide text or reorder it. Both are written out as JSON would
 * write them, unit by unit, so that a line of JSON keeps its meaning.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const written = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** Text of several lines for a terminal or a log: line ends and tabs stay. */
export const printable = (text: string): string =>
  text.replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : written(character)));

/** The same for text that must stay on its line. */
export const printableLine = (text: string): string => text.replace(HIDDEN, written);
