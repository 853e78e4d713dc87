/** Tokens of callers, of role sessions, and of locks: 48 hexadecimal digits are no hash's. */
const TOKENS = /(cv_)[A-Za-z0-9_-]{20,128}|(sess_)[0-9a-f]{20,128}|(?<![0-9a-f])[0-9a-f]{48}(?![0-9a-f])/g;

/**
 * The last line of defence for journal and log: no code writes a token there on purpose, but a caller may put one into a
 * path, a tool's name or a label, and a driver into the text of an error.
 */
export function withoutTokens(text: string): string {
  return text.replace(TOKENS, (_, caller = '', session = '') => `${caller}${session}[redacted]`);
}

/** Exactly one of ours. What merely begins like one, a variable's name say, is none. */
const EXACT = /cv_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])|sess_[0-9a-f]{48}(?![0-9a-f])|(?<![0-9a-f])[0-9a-f]{48}(?![0-9a-f])/;

export const hasToken = (text: string): boolean => EXACT.test(text);
