import { GitHubFailed } from '../../../machine/github/github-failed.ts';

/** So long the server goes on asking GitHub about what it has begun there. */
const MOST_MS = 3_600_000;

/** Whether it makes sense to ask again later: GitHub is away, or wants to be left alone for a while. */
export const waitsForGitHub = (failure: unknown, begun: number, now: number): boolean =>
  failure instanceof GitHubFailed && (failure.isUncertain || failure.why === 'rate_limited') && now - begun < MOST_MS;
