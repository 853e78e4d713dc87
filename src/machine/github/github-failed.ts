export type GitHubWhy = 'token_missing' | 'unauthorized' | 'forbidden' | 'not_found' | 'invalid' | 'rate_limited' | 'unreachable' | 'failed';

interface Answer {
  readonly status?: number;
  readonly retryAt?: number;
}

/** GitHub said no, or nothing. The message is in GitHub's own words, where it said any. */
export class GitHubFailed extends Error {
  override readonly name = 'GitHubFailed';
  readonly why: GitHubWhy;
  readonly status: number | null;
  /** From when on it may be called again. */
  readonly retryAt: number | null;

  constructor(why: GitHubWhy, message: string, { status, retryAt }: Answer = {}) {
    super(message);
    this.why = why;
    this.status = status ?? null;
    this.retryAt = retryAt ?? null;
  }

  /** What was asked for may have been done all the same. */
  get isUncertain(): boolean {
    return this.why === 'unreachable' || this.why === 'failed';
  }
}

const DEFAULT_WAIT_MS = 60_000;

/** When it may be called again, where it says that it was called too often; null where it says something else. */
export function timeToTryAgain(status: number, headers: Readonly<Record<string, string | number | undefined>>, said: string, now: number): number | null {
  if (status !== 403 && status !== 429) return null;
  const wait = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(wait)) return now + wait * 1_000;
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) return Math.max(reset * 1_000, now);
  return status === 429 || /rate limit|abuse detection/i.test(said) ? now + DEFAULT_WAIT_MS : null;
}
