import { type GitHub, GitHubFailed, type GitHubRepository, type Pull, type PullWords } from '../../../machine/github/github.ts';

/** Thrown if the server could not find out whether GitHub created the pull request. */
export class PullOutcomeUnknown extends Error {
  override readonly name = 'PullOutcomeUnknown';
}

interface PullSpec {
  readonly repository: GitHubRepository;
  readonly branch: string;
  /** Number of the pull request that the instance already has, or null. */
  readonly known: number | null;
  readonly words: PullWords;
}

/** Returns the open pull request for this branch, if there is one. */
export async function findPull(github: GitHub, { repository, branch, known, words }: PullSpec): Promise<Pull | undefined> {
  const open = await github.openPulls(repository, branch);
  return open.find(({ number }) => number === known) ?? open.find(({ base }) => base === words.base);
}

/** Opens a pull request for the branch. If the branch already has an open pull request, updates its texts. */
export async function openPull(github: GitHub, spec: PullSpec): Promise<Pull> {
  const { repository, branch, words } = spec;
  const there = await findPull(github, spec);
  if (there) return await github.changePull(repository, there.number, words);
  try {
    return await github.createPull(repository, branch, words);
  } catch (error) {
    if (!(error instanceof GitHubFailed) || !(error.isUncertain || error.why === 'invalid')) throw error;
    // GitHub may have created the pull request despite the error, or a person may have created one a moment ago.
    const made = await findPull(github, spec).catch(() => {
      throw error.isUncertain ? new PullOutcomeUnknown(error.message) : error;
    });
    if (made) return made;
    throw error;
  }
}
