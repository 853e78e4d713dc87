import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { covibeHome, readJson, replaceFile } from '../../wire/covibe-home.ts';
import { tokensHere } from '../../wire/credentials.ts';

/** What a server last said to the holder of a token: whether that workspace holds changes back while the server cannot be asked. */
interface Word {
  readonly origin: string;
  /** Its hash. The answer does not name the workspace, and a server may have several. */
  readonly token: string;
  readonly closed: boolean;
}

/** Which tokens are gone cannot be known: others may have theirs in their environment. Beyond so many the oldest word goes. */
const MAX_WORDS = 200;

const pathOf = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'fail-closed.json');
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex').slice(0, 32);

/** Whoever has not been told anything goes by what was said to tokens that are still here: nobody takes back what was said to others. */
export function failsClosed(env: NodeJS.ProcessEnv, origin: string, token: string | undefined): boolean {
  const words = wordsIn(env).filter((word) => word.origin === origin);
  const own = token === undefined ? undefined : words.find((word) => word.token === hashOf(token));
  if (own) return own.closed;
  const here = new Set(tokensHere(env, origin).map(hashOf));
  return words.some((word) => word.closed && here.has(word.token));
}

export function noteFailClosed(env: NodeJS.ProcessEnv, origin: string, token: string, closed: boolean): void {
  const words = wordsIn(env);
  const hash = hashOf(token);
  const isOwn = (word: Word) => word.origin === origin && word.token === hash;
  if (words.find(isOwn)?.closed === closed) return;
  // It may be the workspace of others too, who were told otherwise before: they count as untold until they hear for themselves.
  const isOutdated = (word: Word) => closed && word.origin === origin && !word.closed;
  const next = [...words.filter((word) => !isOwn(word) && !isOutdated(word)), { origin, token: hash, closed }];
  replaceFile(pathOf(env), `${JSON.stringify({ words: next.slice(-MAX_WORDS) }, null, 2)}\n`);
}

function wordsIn(env: NodeJS.ProcessEnv): readonly Word[] {
  const { words } = (readJson(pathOf(env)) ?? {}) as { words?: unknown };
  return Array.isArray(words) ? words.filter(isWord) : [];
}

function isWord(value: unknown): value is Word {
  const { origin, token, closed } = (value ?? {}) as Partial<Word>;
  return typeof origin === 'string' && typeof token === 'string' && typeof closed === 'boolean';
}
