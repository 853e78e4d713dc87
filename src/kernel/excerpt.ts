/** The size of the text in bytes when it is written as JSON, where a control character takes six bytes. */
export const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Shortens a text to at most `most` characters and marks the cut with `…`. For people and agents who can read the whole text elsewhere. */
export const beginning = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`);

/**
 * Shortens a text to at most `maxBytes` bytes of JSON and marks the cut with `…`. For events, because the size of their payload
 * is limited in bytes.
 */
export function excerpt(text: string, maxBytes: number): string {
  if (bytesOf(text) <= maxBytes) return text;
  let room = maxBytes - Buffer.byteLength('…');
  let kept = '';
  for (const character of text) {
    room -= bytesOf(character);
    if (room < 0) break;
    kept += character;
  }
  return `${kept}…`;
}
