import { programRunning } from '../../../clients/index.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { placeOf } from '../../../machine/git/place.ts';
import { ProgramMissing, ProgramTimedOut } from '../../../machine/process/process.ts';
import { configuredToken, tokensHere } from '../../../wire/credentials.ts';
import { type Edit, type HookQuestion, LONGEST, MAX_EDITS } from '../../../wire/hook-question.ts';
import { counted } from '../../cli/output.ts';
import { askHook, heldBackText } from '../hook-answer.ts';
import { type CommittedPaths, MAX_COMMITS, pushedPaths, stagedPaths } from './committed-paths.ts';
import type { Guarded } from './install.ts';

interface GuardDecision {
  readonly allowed: boolean;
  /** A text for the committer: the reason for a denial, or notes, for example about files that were not checked. Undefined if there is nothing to say. */
  readonly said: string | undefined;
}

interface CheckOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly origin: string;
  readonly remote: string | undefined;
  /** Reads the refs that git writes to stdin before a push. */
  readonly lines: () => Promise<string>;
}

/** The maximum number of paths that are checked, so that the check of a large merge does not take minutes. */
const MAX_PATHS = 10_000;

const SAID: Readonly<Record<Guarded, { event: 'commit' | 'push'; what: string }>> = {
  'pre-commit': { event: 'commit', what: 'This commit' },
  'pre-push': { event: 'push', what: 'This push' },
};

export async function checkGuard(hook: Guarded, { env, cwd, origin, remote, lines }: CheckOptions): Promise<GuardDecision> {
  const { event, what } = SAID[hook];
  const unchecked = (why: string, next: string): GuardDecision => ({
    allowed: true,
    said: `${what} was not checked against other agents' claims: ${why}.\n    next: ${next}`,
  });
  const place = placeOf(cwd);
  if (!place) return { allowed: true, said: undefined };
  let changes: CommittedPaths;
  try {
    changes = hook === 'pre-commit' ? await stagedPaths(env, cwd) : await pushedPaths(env, cwd, remote, await lines());
  } catch (error) {
    if (!(error instanceof GitFailed || error instanceof ProgramMissing || error instanceof ProgramTimedOut)) throw error;
    return unchecked(`git could not list its files (${error.message})`, 'covibe-local doctor');
  }
  const { agent, asPerson, client_session, token } = committerIn(env, origin);
  const of = (!asPerson && agent) || 'this machine';
  const asking: HookQuestion = { folder: place.root, repo: place.repo, branch: place.branch, client_session, ...(asPerson && { person: true }) };
  const edits: Edit[] = changes.paths.filter((path) => path.length <= LONGEST.path).map((path) => ({ repo: place.repo, path }));
  for (let at = 0; at < Math.min(edits.length, MAX_PATHS); at += MAX_EDITS) {
    const heard = await askHook(env, { origin, client: 'git', event, question: { ...asking, edits: edits.slice(at, at + MAX_EDITS) }, token, of });
    if (heard.kind !== 'answered') {
      if (heard.failClosed) return { allowed: false, said: `${heldBackText(`${what} was not made`, origin, heard)}\n${past(event)}` };
      if (heard.kind === 'refused') return unchecked(heard.message.replace(/\.$/, ''), heard.next);
      return unchecked(`the Covenant server at ${origin} is not reachable (${heard.reason})`, 'start the server with `covenant up`');
    }
    if (heard.body.decision === 'deny') return { allowed: false, said: `${String(heard.body.reason)}\n${past(event)}` };
  }
  const notes = [...unseenOf(changes, edits.length), ...(asPerson && agent !== undefined && edits.length > 0 ? [asDevelopers(what, agent)] : [])];
  return { allowed: true, said: notes.length > 0 ? notes.join('\n') : undefined };
}

const asDevelopers = (what: string, agent: string): string =>
  `${what} was checked against claims as if the developer had made it, because ${agent} has no token for this server. ` +
  "Claims of the developer's other agents were ignored.\n" +
  '    next: run covibe-local setup to get one';

/** Notes on paths and commits that were not checked. */
function unseenOf({ paths, beyond }: CommittedPaths, askable: number): string[] {
  const tooLong = paths.length - askable;
  return [
    ...(askable > MAX_PATHS ? [`Only the first ${MAX_PATHS} of ${askable} files were checked against other agents' claims.`] : []),
    ...(tooLong > 0
      ? [
          `${counted(tooLong, 'file')} with a path longer than ${LONGEST.path} characters ${tooLong === 1 ? 'was' : 'were'} not checked against other agents' claims.`,
        ]
      : []),
    ...(beyond ? [`Only the newest ${MAX_COMMITS} commits of a branch were checked against other agents' claims.`] : []),
  ];
}

const past = (event: 'commit' | 'push'): string => `    To skip this check: git ${event} --no-verify. Only a person may decide that, never an agent.`;

/** The agent or person who makes the commit. For an agent, `client_session` is the id of its run, if its program provides this id. */
interface Committer {
  readonly agent: string | undefined;
  /**
   * Whether the server is asked as if the developer made the commit. True for a person. Also true for
   * an agent without its own token, because it must not use the token of another agent in its own name.
   */
  readonly asPerson: boolean;
  readonly client_session: string | undefined;
  readonly token: string | undefined;
}

export function committerIn(env: NodeJS.ProcessEnv, origin: string): Committer {
  const running = programRunning(env);
  const agent = env.COVIBE_AGENT || running?.client;
  const own = agent === undefined ? undefined : configuredToken(env, origin, agent);
  // Any of these tokens can ask for the developer, because the developer owns all of them.
  const token = own ?? tokensHere(env, origin)[0];
  const asPerson = agent === undefined || (own === undefined && token !== undefined);
  return { agent, asPerson, client_session: asPerson ? undefined : running?.run, token };
}
