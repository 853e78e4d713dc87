import { tokensHere } from '../../wire/credentials.ts';
import { hashOf } from './hash.ts';
import { isText, storedList } from './state.ts';

/** What a server last answered to the holder of a token: whether the workspace holds changes back while the server cannot be asked. */
interface FailClosedAnswer {
  readonly origin: string;
  /** Its hash. The answer does not name the workspace, and a server may have several. */
  readonly token: string;
  readonly closed: boolean;
}

/** `words` is what the files of earlier companions call the list. */
const ANSWERS = storedList<FailClosedAnswer>('fail-closed.json', 'words', { origin: isText, token: isText, closed: (closed) => typeof closed === 'boolean' });

/** Nobody can know which tokens are no longer used, because some are only in an environment. Above this number the oldest answer goes. */
const MAX_ANSWERS = 200;

/** A token without an answer of its own goes by the answers to the tokens that are still here. */
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
  // The workspace may be that of other tokens too, whose earlier answers are outdated then: they ask for themselves.
  const isOutdated = (answer: FailClosedAnswer) => closed && answer.origin === origin && !answer.closed;
  ANSWERS.write(env, [...answers.filter((answer) => !isOwn(answer) && !isOutdated(answer)), { origin, token: hash, closed }].slice(-MAX_ANSWERS));
}
