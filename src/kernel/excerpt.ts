/** The size as JSON, where a control character takes six bytes. */
export const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/**
 * The beginning of a text, at most `most` characters, with a mark where it was cut. For people and agents who can read the rest
 * elsewhere.
 */
export const beginning = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`);

/** The beginning of a text, with a mark where it was cut. For events, whose payload is limited in bytes. */
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
