/** As one word to a shell, whatever is in it. */
export const shellQuoted = (text: string): string => (/^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
