const TOKEN = /cv_[A-Za-z0-9_-]{20,}/g;

/**
 * The last line of defence for journal and log: no code writes a token there on purpose, but a caller may put one into a
 * path, a tool's name or a label, and a driver into the text of an error.
 */
export function withoutTokens(text: string): string {
  return text.includes('cv_') ? text.replace(TOKEN, 'cv_[redacted]') : text;
}
