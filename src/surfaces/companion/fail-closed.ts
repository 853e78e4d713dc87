import { tokensHere } from '../../wire/credentials.ts';
import { hashOf } from './hash.ts';
import { isText, storedList } from './state.ts';

/** The last answer of a server for a token. It says whether the token's workspace blocks edits while the server is unreachable. */
interface FailClosedAnswer {
  readonly origin: string;
  /** The hash of the token, which identifies the workspace. A server may have several workspaces, and its answer does not contain the name of the workspace. */
  readonly token: string;
  readonly closed: boolean;
}

/** The list is called `words` in the file, because earlier companions wrote it under this name. */
const ANSWERS = storedList<FailClosedAnswer>('fail-closed.json', 'words', { origin: isText, token: isText, closed: (closed) => typeof closed === 'boolean' });

/**
 * The maximum number of stored answers. If there are more, the oldest one is dropped. The companion cannot drop unused tokens instead, because some tokens
 * exist only in an environment and look unused.
 */
const MAX_ANSWERS = 200;

/**
 * Returns whether edits are blocked while the server is unreachable. If no answer
 * is stored for the token, the answers for the other tokens on this machine count.
 */
export function failsClosed(env: NodeJS.ProcessEnv, origin: string, token: string | undefined): boolean {
  const answers = ANSWERS.read(env).filter((answer) => answer.origin === origin);
  if (!answers.some(({ closed }) => closed)) return false;
  const own = token === undefined ? undefined : answers.find((answer) => answer.token === hashOf(token));
  if (own) return own.closed;
  const here = new Set(tokensHere(env, origin).map(hashOf));
  return answers.some((answer) => answer.closed && here.has(answer.token));
}

export function noteFailClosed(env: NodeJS.ProcessEnv, origin: string, token: string, closed: boolean): void {
  const answers = ANSWERS.read(env);
  // An open answer is stored only if a stored answer is closed. Otherwise it would change no result, and the next closed answer would drop it.
  if (!closed && !answers.some((answer) => answer.origin === origin && answer.closed)) return;
  const hash = hashOf(token);
  const isOwn = (answer: FailClosedAnswer) => answer.origin === origin && answer.token === hash;
  if (answers.find(isOwn)?.closed === closed) return;
  // Other tokens may belong to the same workspace, so their earlier answers may be outdated and are dropped. Each token gets a new answer with its next call.
  const isOutdated = (answer: FailClosedAnswer) => closed && answer.origin === origin && !answer.closed;
  ANSWERS.write(env, [...answers.filter((answer) => !isOwn(answer) && !isOutdated(answer)), { origin, token: hash, closed }].slice(-MAX_ANSWERS));
}
