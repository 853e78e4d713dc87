import { tokensHere } from '../../wire/credentials.ts';
import { hashOf } from './hash.ts';
import { isText, storedList } from './state.ts';

/** A server's last answer to the holder of a token: whether the workspace blocks edits while the server is unreachable. */
interface FailClosedAnswer {
  readonly origin: string;
  /** The token's hash. The answer does not name the workspace, and one server may have several. */
  readonly token: string;
  readonly closed: boolean;
}

/** Earlier companions named the list in the file `words`. */
const ANSWERS = storedList<FailClosedAnswer>('fail-closed.json', 'words', { origin: isText, token: isText, closed: (closed) => typeof closed === 'boolean' });

/** Nobody knows which tokens are no longer used, because some exist only in an environment. Above this number the oldest answer is dropped. */
const MAX_ANSWERS = 200;

/** A token without a stored answer uses the answers of the other tokens on this machine. */
export function failsClosed(env: NodeJS.ProcessEnv, origin: string, token: string | undefined): boolean {
  const answers = ANSWERS.read(env).filter((answer) => answer.origin === origin);
  const own = token === undefined ? undefined : answers.find((answer) => answer.token === hashOf(token));
  if (own) return own.closed;
  const here = new Set(tokensHere(env, origin).map(hashOf));
  return answers.some((answer) => answer.closed && here.has(answer.token));
}

export function noteFailClosed(env: NodeJS.ProcessEnv, origin: string, token: string, closed: boolean): void {
  const answers = ANSWERS.read(env);
  const hash = hashOf(token);
  const isOwn = (answer: FailClosedAnswer) => answer.origin === origin && answer.token === hash;
  if (answers.find(isOwn)?.closed === closed) return;
  // Other tokens may belong to the same workspace, which makes their earlier answers outdated. Those tokens ask again themselves.
  const isOutdated = (answer: FailClosedAnswer) => closed && answer.origin === origin && !answer.closed;
  ANSWERS.write(env, [...answers.filter((answer) => !isOwn(answer) && !isOutdated(answer)), { origin, token: hash, closed }].slice(-MAX_ANSWERS));
}
