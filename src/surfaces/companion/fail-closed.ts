import { tokensHere } from '../../wire/credentials.ts';
import { hashOf } from './hash.ts';
import { isText, storedList } from './state.ts';

/** A server's last answer for a token: whether the token's workspace blocks edits while the server is unreachable. */
interface FailClosedAnswer {
  readonly origin: string;
  /** The token's hash stands for the workspace: the answer does not contain the workspace's name, and a server may have several workspaces. */
  readonly token: string;
  readonly closed: boolean;
}

/** Earlier companions named the list in the file `words`. */
const ANSWERS = storedList<FailClosedAnswer>('fail-closed.json', 'words', { origin: isText, token: isText, closed: (closed) => typeof closed === 'boolean' });

/** The limit of stored answers. Beyond it the oldest answer is dropped, because unused tokens cannot be recognized: some exist only in an environment. */
const MAX_ANSWERS = 200;

/** A token without a stored answer uses the answers of the other tokens on this machine. */
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
  // Without a stored closed answer, an open one changes nothing: the next closed answer would drop it.
  if (!closed && !answers.some((answer) => answer.origin === origin && answer.closed)) return;
  const hash = hashOf(token);
  const isOwn = (answer: FailClosedAnswer) => answer.origin === origin && answer.token === hash;
  if (answers.find(isOwn)?.closed === closed) return;
  // Other tokens may belong to the same workspace, so their earlier answers may be outdated and are dropped. Each token gets a new answer with its next call.
  const isOutdated = (answer: FailClosedAnswer) => closed && answer.origin === origin && !answer.closed;
  ANSWERS.write(env, [...answers.filter((answer) => !isOwn(answer) && !isOutdated(answer)), { origin, token: hash, closed }].slice(-MAX_ANSWERS));
}
