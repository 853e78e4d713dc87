import type { Octokit } from '@octokit/rest';
import { type RemoteAccess, withPassword } from '../git/remote.ts';
import { type RemoteRepository, readRemote, withoutPasswords } from '../git/remote-address.ts';

export type GitHubWhy = 'token_missing' | 'unauthorized' | 'forbidden' | 'not_found' | 'invalid' | 'rate_limited' | 'unreachable' | 'failed';

interface Answer {
  readonly status?: number;
  readonly retryAt?: number;
}

/** GitHub refused the request or did not answer. If GitHub sent a message, this error contains it. */
export class GitHubFailed extends Error {
  override readonly name = 'GitHubFailed';
  readonly why: GitHubWhy;
  readonly status: number | null;
  /** When the API may be called again, or null if the failure has nothing to do with a rate limit. */
  readonly retryAt: number | null;

  constructor(why: GitHubWhy, message: string, { status, retryAt }: Answer = {}) {
    super(message);
    this.why = why;
    this.status = status ?? null;
    this.retryAt = retryAt ?? null;
  }

  /** True if GitHub may have carried out the request although it failed here. */
  get isUncertain(): boolean {
    return this.why === 'unreachable' || this.why === 'failed';
  }
}

const DEFAULT_WAIT_MS = 60_000;

/** Returns when the API may be called again, or null if the answer was not caused by a rate limit. */
export function timeToTryAgain(status: number, headers: Readonly<Record<string, string | number | undefined>>, said: string, now: number): number | null {
  if (status !== 403 && status !== 429) return null;
  const wait = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(wait)) return now + wait * 1_000;
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) return Math.max(reset * 1_000, now);
  return status === 429 || /rate limit|abuse detection/i.test(said) ? now + DEFAULT_WAIT_MS : null;
}

/** A repository on the GitHub host that this server uses. */
export type GitHubRepository = Pick<RemoteRepository, 'owner' | 'repo'>;

export interface Pull {
  readonly number: number;
  readonly url: string;
  readonly base: string;
  readonly state: 'open' | 'closed' | 'merged';
}

export interface PullWords {
  readonly title: string;
  readonly body: string;
  readonly base: string;
}

export interface NewIssue {
  readonly title: string;
  readonly body: string;
  readonly labels?: readonly string[] | undefined;
  readonly assignees?: readonly string[] | undefined;
}

export interface GitHubIssue {
  readonly number: number;
  readonly url: string;
  readonly body: string;
}

/**
 * The operations that the server can perform on GitHub. They throw `GitHubFailed` on failure. Requests are never repeated, so that a caller knows exactly
 * what was requested.
 */
export interface GitHub {
  /** The host name in the addresses of the repositories. */
  readonly host: string;
  readonly hasToken: boolean;
  /** Returns null if the address is not on this GitHub host. */
  repositoryAt(address: string): GitHubRepository | null;
  /** Returns the credentials for git to push to this address. The token is not written to a command line or a file. */
  gitAccess(address: string): RemoteAccess | undefined;
  openPulls(repository: GitHubRepository, branch: string): Promise<Pull[]>;
  pull(repository: GitHubRepository, number: number): Promise<Pull>;
  createPull(repository: GitHubRepository, branch: string, words: PullWords): Promise<Pull>;
  changePull(repository: GitHubRepository, number: number, words: PullWords): Promise<Pull>;
  createIssue(repository: GitHubRepository, issue: NewIssue): Promise<GitHubIssue>;
  /** Returns the issues that have changed since the given time, newest first. The result is limited to a few hundred. */
  issuesSince(repository: GitHubRepository, since: number): Promise<GitHubIssue[]>;
}

export interface GitHubOptions {
  readonly token: string | undefined;
  /** The base URL of the API. On GitHub Enterprise it is `https://HOST/api/v3`. */
  readonly baseUrl?: string | undefined;
  /** The host of the repositories, if it differs from the host in the base URL. */
  readonly host?: string | undefined;
  readonly timeoutMs?: number;
  readonly now?: () => number;
}

const API = 'https://api.github.com';
const TIMEOUT_MS = 15_000;
const PAGE = 100;
const MAX_PAGES = 3;
const nothing = () => {};
/** Without this, Octokit prints its requests to the console. */
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * Returns the host of the repositories for an API address. The API of `github.com` is at `api.github.com`, and GitHub Enterprise uses its own host name. An
 * address on this machine is taken for a proxy to github.com, as in tests.
 */
function hostOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? 'github.com' : hostname.replace(/^api\./, '');
}

interface RawPull {
  readonly number: number;
  readonly html_url: string;
  readonly state: string;
  readonly merged_at: string | null;
  readonly base: { readonly ref: string };
}

const pullOf = ({ number, html_url, state, merged_at, base }: RawPull): Pull => ({
  number,
  url: html_url,
  base: base.ref,
  state: merged_at !== null ? 'merged' : state === 'open' ? 'open' : 'closed',
});

const issueOf = ({ number, html_url, body }: { number: number; html_url: string; body?: string | null | undefined }): GitHubIssue => ({
  number,
  url: html_url,
  body: body ?? '',
});

export function createGitHub({ token: given, baseUrl = API, host = hostOf(baseUrl), timeoutMs = TIMEOUT_MS, now = Date.now }: GitHubOptions): GitHub {
  const token = given?.trim() ?? '';
  let client: Promise<Octokit> | undefined;
  // Octokit is loaded at the first call, because most commands never use GitHub.
  const connect = async () => {
    const { Octokit: Client } = await import('@octokit/rest');
    return new Client({ auth: token, baseUrl: baseUrl.replace(/\/+$/, ''), userAgent: 'covenant', log: SILENT, request: { log: SILENT } });
  };

  async function ask<T>(call: (rest: Octokit['rest'], request: { signal: AbortSignal }) => Promise<{ data: T }>): Promise<T> {
    requireToken(token);
    client ??= connect();
    const { rest } = await client;
    try {
      return (await call(rest, { signal: AbortSignal.timeout(timeoutMs) })).data;
    } catch (error) {
      throw failureOf(error, now());
    }
  }

  return {
    host,
    hasToken: Boolean(token),
    repositoryAt(address) {
      const remote = readRemote(address);
      const isHere = remote !== null && [host, `ssh.${host}`].includes(remote.host.toLowerCase());
      return isHere ? { owner: remote.owner, repo: remote.repo } : null;
    },
    gitAccess: (address) => withPassword(address, requireToken(token)),
    async openPulls(repository, branch) {
      const head = `${repository.owner}:${branch}`;
      const pulls = await ask((rest, request) => rest.pulls.list({ ...repository, state: 'open', head, per_page: PAGE, request }));
      // The result is filtered again, because GitHub ignores filters that it does not understand and returns all pull requests. They may also come from a fork
      // by the same owner.
      return pulls.filter(({ head: { ref, repo }, base }) => ref === branch && repo?.id === base.repo.id).map(pullOf);
    },
    pull: async (repository, number) => pullOf(await ask((rest, request) => rest.pulls.get({ ...repository, pull_number: number, request }))),
    createPull: async (repository, branch, words) =>
      pullOf(await ask((rest, request) => rest.pulls.create({ ...repository, head: branch, ...words, request }))),
    changePull: async (repository, number, words) =>
      pullOf(await ask((rest, request) => rest.pulls.update({ ...repository, pull_number: number, ...words, request }))),
    async createIssue(repository, { title, body, labels, assignees }) {
      const more = { ...(labels ? { labels: [...labels] } : {}), ...(assignees ? { assignees: [...assignees] } : {}) };
      return issueOf(await ask((rest, request) => rest.issues.create({ ...repository, title, body, ...more, request })));
    },
    async issuesSince(repository, since) {
      const found: GitHubIssue[] = [];
      const asked = { ...repository, state: 'all', sort: 'created', direction: 'desc', since: new Date(since).toISOString(), per_page: PAGE } as const;
      for (let page = 1; page <= MAX_PAGES; page++) {
        const issues = await ask((rest, request) => rest.issues.listForRepo({ ...asked, page, request }));
        found.push(...issues.map(issueOf));
        if (issues.length < PAGE) break;
      }
      return found;
    },
  };
}

/** Checks the token before it is put into a header, because an error about an invalid header would contain the token. */
function requireToken(token: string): string {
  if (token === '') throw new GitHubFailed('token_missing', 'GITHUB_TOKEN is not set for the server');
  if (/^[!-~]+$/.test(token)) return token;
  throw new GitHubFailed('unauthorized', 'GITHUB_TOKEN contains characters that are not allowed in a token');
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly data: unknown;
}

/** Converts an error of the client. Only GitHub's message is used, because the error itself contains the request. */
function failureOf(error: unknown, now: number): GitHubFailed {
  const { response } = error as { response?: Answered };
  if (response === undefined) {
    const { name, cause } = error as Error;
    const late = [name, (cause as Error | undefined)?.name].some((known) => known === 'TimeoutError' || known === 'AbortError');
    return new GitHubFailed('unreachable', late ? 'GitHub did not answer in time' : `GitHub could not be reached: ${reasonOf(error)}`);
  }
  const { status, headers } = response;
  const said = wordsOf(response.data);
  const retryAt = timeToTryAgain(status, headers, said, now);
  if (retryAt !== null) return new GitHubFailed('rate_limited', said || "GitHub's rate limit is exceeded", { status, retryAt });
  return new GitHubFailed(WHY[status] ?? (status >= 500 ? 'failed' : 'invalid'), said || `GitHub answered ${status}`, { status });
}

const WHY: Readonly<Record<number, GitHubWhy>> = { 401: 'unauthorized', 403: 'forbidden', 404: 'not_found', 410: 'not_found', 422: 'invalid' };

const reasonOf = (error: unknown): string => withoutPasswords(String((error as Error).message)).slice(0, 200);

/** Joins GitHub's message with the descriptions of the single errors. */
function wordsOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return '';
  const { message, errors } = data as { message?: unknown; errors?: unknown };
  const each = (Array.isArray(errors) ? errors : []).map((one: unknown) => {
    if (typeof one === 'string') return one;
    const { message: words, resource, field, code, value } = (one ?? {}) as Record<string, unknown>;
    if (typeof words === 'string') return words;
    return [resource, field, code, value].filter((part) => typeof part === 'string').join(' ');
  });
  return [typeof message === 'string' ? message : '', ...each]
    .filter((words) => words !== '')
    .join(': ')
    .slice(0, 500);
}
