import { Refusal } from '../../../kernel/reply.ts';
import { messageOf } from '../../../kernel/step.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { RemoteFailed, type RemoteWhy } from '../../../machine/git/remote.ts';
import { GitHubFailed, type GitHubWhy } from '../../../machine/github/github.ts';
import { ProgramMissing, ProgramTimedOut } from '../../../machine/process/process.ts';

const OPERATOR = 'Tell your user: ';

const GITHUB: Readonly<Record<GitHubWhy, readonly [code: string, next: string]>> = {
  token_missing: ['GITHUB_TOKEN_MISSING', `${OPERATOR}start the server with GITHUB_TOKEN in its environment.`],
  unauthorized: ['GITHUB_UNAUTHORIZED', `${OPERATOR}the server's GITHUB_TOKEN is invalid or has expired.`],
  forbidden: ['GITHUB_FORBIDDEN', `${OPERATOR}the server's GITHUB_TOKEN needs read and write access to contents, pull requests and issues.`],
  not_found: ['GITHUB_NOT_FOUND', `${OPERATOR}the repository does not exist, the server's GITHUB_TOKEN cannot see it, or its issues are disabled.`],
  invalid: ['GITHUB_INVALID', 'Correct what GitHub reports, then repeat the call.'],
  rate_limited: ['GITHUB_RATE_LIMITED', 'Repeat the call at `retry_at` (epoch ms), not earlier.'],
  unreachable: ['GITHUB_UNREACHABLE', 'Repeat the call in a few minutes.'],
  failed: ['GITHUB_FAILED', 'Repeat the call in a few minutes.'],
};

const REMOTE: Readonly<Record<RemoteWhy, readonly [code: string, next: string]>> = {
  rejected: [
    'PUSH_REJECTED',
    'The branch on GitHub has commits that are missing here, and the server never force-pushes. If it is your branch, run `git pull --rebase origin BRANCH` and ' +
      'repeat the call. If you review it, report this with send_feedback.',
  ],
  refused: ['PUSH_REFUSED', 'Correct what the remote reports, then repeat the call.'],
  unauthorized: ['GIT_UNAUTHORIZED', `${OPERATOR}the repository's origin rejects the server's GITHUB_TOKEN or ssh key.`],
  unreachable: ['GIT_UNREACHABLE', 'Repeat the call in a few minutes. If it fails again, check the address with `git remote get-url origin`.'],
  failed: ['GIT_FAILED', 'Correct what git reports, then repeat the call.'],
};

/**
 * Converts failures of git and GitHub to refusals, with a code for each kind of failure. Returns any other error unchanged, because it is a fault of
 * the server.
 */
export function asRefusal(error: unknown): unknown {
  if (error instanceof GitHubFailed) {
    const [code, next] = GITHUB[error.why];
    if (error.retryAt === null) return new Refusal(code, `GitHub: ${error.message}.`, next);
    const later = `Repeat the call after ${new Date(error.retryAt).toISOString()} (\`retry_at\`), not earlier.`;
    return new Refusal(code, `GitHub: ${error.message}.`, later, { retry_at: error.retryAt });
  }
  if (error instanceof RemoteFailed) {
    const [code, next] = REMOTE[error.why];
    return new Refusal(code, `git: ${error.message}.`, next);
  }
  if (error instanceof GitFailed || error instanceof ProgramTimedOut) return new Refusal('GIT_FAILED', `git: ${messageOf(error)}.`, REMOTE.failed[1]);
  if (error instanceof ProgramMissing)
    return new Refusal('PROGRAM_MISSING', `${error.message}.`, `${OPERATOR}install ${error.program} on the server's machine.`);
  return error;
}

export async function refuseFailures<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    throw asRefusal(error);
  });
}

/** How long the server repeats requests to GitHub that fail temporarily. */
const MAX_MS = 3_600_000;

/** Returns whether to ask GitHub again later, because GitHub is unreachable or limits requests. */
export const waitsForGitHub = (failure: unknown, begun: number, now: number): boolean =>
  failure instanceof GitHubFailed && (failure.isUncertain || failure.why === 'rate_limited') && now - begun < MAX_MS;
