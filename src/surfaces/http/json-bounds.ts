export interface JsonBounds {
  readonly json_depth: number;
  readonly json_nodes: number;
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}') as unknown as number[];

/**
 * The number of values in JSON, or which bound it is beyond, told from its bytes: a parsed `{}` takes twenty times its two
 * bytes, so 8 MiB of them must be refused before they are parsed. What is not JSON at all is left to the parser.
 */
export function countJson(bytes: Buffer, { json_depth, json_nodes }: JsonBounds): number | 'too-deep' | 'too-many-nodes' {
  let depth = 0;
  let nodes = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) nodes++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      nodes++;
      if (++depth > json_depth) return 'too-deep';
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    if (nodes > json_nodes) return 'too-many-nodes';
  }
  return nodes;
}

/** Of the quote that ends the string which begins at `start`; the last byte where none does. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = start; ; ) {
    end = bytes.indexOf(QUOTE as number, end + 1);
    if (end < 0) return bytes.length;
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}
