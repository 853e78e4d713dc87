import { Refusal } from '../../../kernel/reply.ts';
import { messageOf } from '../../../kernel/step.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { RemoteFailed, type RemoteWhy } from '../../../machine/git/remote.ts';
import { GitHubFailed, type GitHubWhy } from '../../../machine/github/github.ts';
import { ProgramMissing, ProgramTimedOut } from '../../../machine/process/process.ts';

const OPERATOR = 'Tell the person whom you work for: ';

const GITHUB: Readonly<Record<GitHubWhy, readonly [code: string, next: string]>> = {
  token_missing: ['GITHUB_TOKEN_MISSING', `${OPERATOR}the server needs GITHUB_TOKEN in its environment when it starts.`],
  unauthorized: ['GITHUB_UNAUTHORIZED', `${OPERATOR}the server's GITHUB_TOKEN is wrong or has expired.`],
  forbidden: ['GITHUB_FORBIDDEN', `${OPERATOR}the server's GITHUB_TOKEN may not do this; it needs contents, pull requests and issues, read and write.`],
  not_found: ['GITHUB_NOT_FOUND', `${OPERATOR}the repository is not there, or the server's GITHUB_TOKEN may not see it, or it has no issues.`],
  invalid: ['GITHUB_INVALID', 'Put right what GitHub complains of, and call again.'],
  rate_limited: ['GITHUB_RATE_LIMITED', 'Call again at retry_at (epoch ms), not before.'],
  unreachable: ['GITHUB_UNREACHABLE', 'Call again in a few minutes.'],
  failed: ['GITHUB_FAILED', 'Call again in a few minutes.'],
};

const REMOTE: Readonly<Record<RemoteWhy, readonly [code: string, next: string]>> = {
  rejected: [
    'PUSH_REJECTED',
    'The branch has commits on GitHub that are not in what was pushed, and nothing is forced. If it is yours, git pull --rebase origin with the branch and call ' +
      'again; if you review it, say so with send_feedback.',
  ],
  refused: ['PUSH_REFUSED', 'Put right what the remote complains of, and call again.'],
  unauthorized: ['GIT_UNAUTHORIZED', `${OPERATOR}the server may not reach the repository's origin with its GITHUB_TOKEN, or with its key for ssh.`],
  unreachable: ['GIT_UNREACHABLE', 'Call again in a few minutes; if it fails again, the address of origin may be wrong.'],
  failed: ['GIT_FAILED', 'Put right what git complains of, and call again.'],
};

/** Refusals for failures of git and GitHub, with a code for each kind; anything else is the server's own fault. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof GitHubFailed) {
    const [code, next] = GITHUB[error.why];
    return new Refusal(code, `GitHub: ${error.message}.`, next, error.retryAt === null ? {} : { retry_at: error.retryAt });
  }
  if (error instanceof RemoteFailed) {
    const [code, next] = REMOTE[error.why];
    return new Refusal(code, `git: ${error.message}.`, next);
  }
  if (error instanceof GitFailed || error instanceof ProgramTimedOut) return new Refusal('GIT_FAILED', `git: ${messageOf(error)}.`, REMOTE.failed[1]);
  if (error instanceof ProgramMissing) return new Refusal('PROGRAM_MISSING', `${error.message}.`, `${OPERATOR}${error.program} must be installed there.`);
  return error;
}

export async function refuseFailures<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    throw asRefusal(error);
  });
}

/** The server retries GitHub for so long. */
const MAX_MS = 3_600_000;

/** Whether it makes sense to ask again later: GitHub is away, or wants to be left alone for a while. */
export const waitsForGitHub = (failure: unknown, begun: number, now: number): boolean =>
  failure instanceof GitHubFailed && (failure.isUncertain || failure.why === 'rate_limited') && now - begun < MAX_MS;
