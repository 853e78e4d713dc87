/** Characters that take two terminal columns (WIDE) and characters that take no column (NONE). */
const WIDE = /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u;
const NONE = /[\p{M}\p{Cf}]/u;

const widthOf = (character: string): number => (NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1);

/** Returns the number of terminal columns that the text takes. */
export const columnsOf = (text: string): number => [...text].reduce((sum, character) => sum + widthOf(character), 0);

/** Shortens the text if it takes more than this number of columns. Shortened text ends with "…". */
export function fitted(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > columns) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

export const padded = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
