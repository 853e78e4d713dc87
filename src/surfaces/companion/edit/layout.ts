/** How a file is written: what is put into it is to look like the rest. */
export interface Layout {
  readonly eol: string;
  readonly unit: string;
}

export function layoutOf(text: string): Layout {
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit: /^( +|\t)[^\s*]/m.exec(text)?.[1] ?? '  ' };
}

export const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** Without what ends it. */
export const restOfLine = (text: string, offset: number): string => /^[^\r\n]*/.exec(text.slice(offset))?.[0] ?? '';
