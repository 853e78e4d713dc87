/** As JSON, where a control character is six bytes. */
export const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** The beginning of a text, with a mark where it was cut: for events, whose payload is bounded in bytes. */
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
