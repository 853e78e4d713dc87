import { type GitHub, GitHubFailed, type GitHubRepository, type Pull, type PullWords } from '../../../machine/github/github.ts';

/** Whether GitHub has done it could not be learnt. */
export class PullOutcomeUnknown extends Error {
  override readonly name = 'PullOutcomeUnknown';
}

interface PullSpec {
  readonly repository: GitHubRepository;
  readonly branch: string;
  /** The pull request that the instance has already. */
  readonly known: number | null;
  readonly words: PullWords;
}

/** The one that is open for this work, if any. */
export async function findPull(github: GitHub, { repository, branch, known, words }: PullSpec): Promise<Pull | undefined> {
  const open = await github.openPulls(repository, branch);
  return open.find(({ number }) => number === known) ?? open.find(({ base }) => base === words.base);
}

/** Opens a pull request for the branch, or brings the words of the one that is open up to date. */
export async function openPull(github: GitHub, spec: PullSpec): Promise<Pull> {
  const { repository, branch, words } = spec;
  const there = await findPull(github, spec);
  if (there) return await github.changePull(repository, there.number, words);
  try {
    return await github.createPull(repository, branch, words);
  } catch (error) {
    if (!(error instanceof GitHubFailed) || !(error.isUncertain || error.why === 'invalid')) throw error;
    // It may have been made all the same, or by somebody else a moment ago.
    const made = await findPull(github, spec).catch(() => {
      throw error.isUncertain ? new PullOutcomeUnknown(error.message) : error;
    });
    if (made) return made;
    throw error;
  }
}
