import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gitHubContract, OPERATIONS, type OperationName } from './github-contract.ts';

/**
 * A stand-in for GitHub, which does not import the test runner. The caller must call `stop`, which fails if a request or an answer did not match GitHub's API
 * description.
 */
export interface FakeGitHub {
  /** The address for `[github] base_url`. */
  readonly url: string;
  readonly token: string;
  /** The settings for config.toml. */
  readonly config: string;
  readonly pulls: FakePull[];
  readonly issues: FakeIssue[];
  /** The requests in order, such as `POST /repos/acme/app/pulls`. */
  readonly asked: string[];
  /** The requests and answers that did not match GitHub's API description. */
  readonly problems: string[];
  /** Whether a branch exists on GitHub. By default, all branches do. */
  hasBranch: (name: string) => boolean;
  merge(number: number): void;
  close(number: number): void;
  reopen(number: number): void;
  /** Makes the next call of this operation fail. Resolves when that call has arrived. */
  failNext(operation: OperationName, failure: Failure): Promise<void>;
  /** From now on, cuts the connection of each call instead of answering it. */
  goAway(): void;
  comeBack(): void;
  stop(): Promise<void>;
}

export interface FakePull {
  readonly number: number;
  title: string;
  body: string;
  readonly head: string;
  base: string;
  state: 'open' | 'closed';
  merged_at: string | null;
}

export interface FakeIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
}

export interface Failure {
  /** The status of the answer. With `cut`, the connection is cut instead. With `silence`, the call is never answered. */
  readonly with: number | 'cut' | 'silence';
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** If true, the request is carried out although the answer is an error. */
  readonly done?: boolean;
}

interface GitHubCall {
  readonly path: Record<string, string>;
  readonly query: Record<string, string>;
  readonly body: Record<string, unknown>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const DOCS = 'https://docs.github.com/rest';
/** The people to whom an issue can be assigned. */
const PEOPLE = ['octocat', 'hubot'];
const refuse = (status: number, message: string, errors?: readonly object[]): Answer => ({
  status,
  body: { message, documentation_url: DOCS, ...(errors ? { errors } : {}) },
});

/** Starts the stand-in. A repository exists for every name. */
export async function fakeGitHub(): Promise<FakeGitHub> {
  const contract = gitHubContract();
  const token = `ghp_${randomBytes(18).toString('hex')}`;
  const pulls: FakePull[] = [];
  const issues: FakeIssue[] = [];
  const asked: string[] = [];
  const problems: string[] = [];
  const failures: { operation: OperationName; failure: Failure; met: () => void }[] = [];
  let away = false;
  // As on GitHub, issues and pull requests are numbered together.
  const nextNumber = () => pulls.length + issues.length + 1;
  const at = ({ owner, repo }: Record<string, string>) => `https://github.com/${owner}/${repo}`;

  const pullView = (pull: FakePull, path: Record<string, string>) => {
    const example = contract.example('pull-request');
    const { owner } = path;
    const [head, base] = [example.head, example.base] as [object, object];
    return {
      ...example,
      ...pull,
      merged: pull.merged_at !== null,
      // GitHub's schema requires this field, but GitHub's example does not contain it.
      requested_teams: [],
      html_url: `${at(path)}/pull/${pull.number}`,
      head: { ...head, ref: pull.head, label: `${owner}:${pull.head}` },
      base: { ...base, ref: pull.base, label: `${owner}:${pull.base}` },
    };
  };
  const issueView = (issue: FakeIssue, path: Record<string, string>) => {
    const { user, ...example } = contract.example('issue');
    return {
      ...example,
      user,
      ...issue,
      html_url: `${at(path)}/issues/${issue.number}`,
      assignee: null,
      assignees: issue.assignees.map((login) => ({ ...(user as object), login })),
      pull_request: undefined,
    };
  };
  const found = (path: Record<string, string>, then: (pull: FakePull) => Answer): Answer => {
    const pull = pulls.find(({ number }) => String(number) === path.pull_number);
    return pull ? then(pull) : refuse(404, 'Not Found');
  };

  const carryOut: Record<OperationName, (asked: GitHubCall) => Answer> = {
    'GET /repos/{owner}/{repo}/pulls': ({ path, query }) => {
      const matches = pulls.filter(
        ({ head, base, state }) =>
          (query.head === undefined || query.head === `${path.owner}:${head}`) &&
          (query.base === undefined || query.base === base) &&
          (query.state === 'all' || state === (query.state ?? 'open')),
      );
      return { status: 200, body: matches.map((pull) => pullView(pull, path)) };
    },
    'POST /repos/{owner}/{repo}/pulls': ({ path, body }) => {
      const { head, base, title, body: words } = body as { head: string; base: string; title: string; body: string };
      if (!api.hasBranch(head)) return refuse(422, 'Validation Failed', [{ resource: 'PullRequest', field: 'head', code: 'invalid' }]);
      if (!api.hasBranch(base)) return refuse(422, 'Validation Failed', [{ resource: 'PullRequest', field: 'base', code: 'invalid' }]);
      if (pulls.some((pull) => pull.head === head && pull.base === base && pull.state === 'open')) {
        const message = `A pull request already exists for ${path.owner}:${head}.`;
        return refuse(422, 'Validation Failed', [{ resource: 'PullRequest', code: 'custom', message }]);
      }
      const pull: FakePull = { number: nextNumber(), title, body: words, head, base, state: 'open', merged_at: null };
      pulls.push(pull);
      return { status: 201, body: pullView(pull, path) };
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}': ({ path }) => found(path, (pull) => ({ status: 200, body: pullView(pull, path) })),
    'PATCH /repos/{owner}/{repo}/pulls/{pull_number}': ({ path, body }) =>
      found(path, (pull) => {
        Object.assign(pull, body);
        return { status: 200, body: pullView(pull, path) };
      }),
    'GET /repos/{owner}/{repo}/issues': ({ path, query }) => {
      const [size, page] = [Number(query.per_page ?? 30), Number(query.page ?? 1)];
      const newest = issues.toReversed().slice((page - 1) * size, page * size);
      return { status: 200, body: newest.map((issue) => issueView(issue, path)) };
    },
    'POST /repos/{owner}/{repo}/issues': ({ path, body }) => {
      const { title, body: words, labels = [], assignees = [] } = body as unknown as FakeIssue;
      const stranger = assignees.find((login) => !PEOPLE.includes(login));
      if (stranger) return refuse(422, 'Validation Failed', [{ resource: 'Issue', field: 'assignees', code: 'invalid', value: stranger }]);
      const issue: FakeIssue = { number: nextNumber(), title, body: words, labels, assignees };
      issues.push(issue);
      return { status: 201, body: issueView(issue, path) };
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    asked.push(`${request.method} ${url.pathname}`);
    const known = operationOf(request.method ?? '', url.pathname);
    const text = await bodyOf(request);
    if (away) return void request.socket.destroy();
    if (!known) {
      problems.push(`${request.method} ${url.pathname}: not an operation that is known here`);
      return send(response, refuse(404, 'Not Found'));
    }
    const { name, path } = known;
    const body = text === '' ? undefined : JSON.parse(text);
    const query = Object.fromEntries(url.searchParams);
    const wrong = contract.request(name, { path, query, body });
    problems.push(...wrong);
    // The caller also receives the problem as an answer.
    if (wrong.length > 0) return send(response, refuse(400, wrong.join('; ')));
    const authorised = [`token ${token}`, `bearer ${token}`].includes((request.headers.authorization ?? '').replace('Bearer', 'bearer'));
    const index = failures.findIndex(({ operation }) => operation === name);
    const [failing] = index === -1 ? [] : failures.splice(index, 1);
    const done = !authorised ? refuse(401, 'Bad credentials') : failing && !failing.failure.done ? undefined : carryOut[name]({ path, query, body });
    const answer = failing ? failedAs(failing.failure) : done;
    failing?.met();
    if (answer === 'silence') return;
    if (answer === 'cut' || answer === undefined) return void request.socket.destroy();
    problems.push(...contract.answer(name, answer.status, answer.body));
    send(response, answer);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      problems.push(String(error));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const change = (number: number, values: Partial<FakePull>) => Object.assign(pulls.find((pull) => pull.number === number) as FakePull, values);

  const api: FakeGitHub = {
    url,
    token,
    config: `[github]\nbase_url = "${url}"\nhost = "github.com"\n`,
    pulls,
    issues,
    asked,
    problems,
    hasBranch: () => true,
    merge: (number) => void change(number, { state: 'closed', merged_at: '2026-01-02T00:00:00Z' }),
    close: (number) => void change(number, { state: 'closed' }),
    reopen: (number) => void change(number, { state: 'open' }),
    failNext: (operation, failure) => new Promise<void>((met) => failures.push({ operation, failure, met })),
    goAway() {
      away = true;
    },
    comeBack() {
      away = false;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (problems.length > 0) throw new Error(`not as GitHub describes it:\n${problems.join('\n')}`);
    },
  };
  return api;
}

function failedAs(failure: Failure): Answer | 'cut' | 'silence' {
  if (typeof failure.with !== 'number') return failure.with;
  return { ...refuse(failure.with, failure.message ?? `made to fail with ${failure.with}`), ...(failure.headers ? { headers: failure.headers } : {}) };
}

function operationOf(method: string, path: string): { name: OperationName; path: Record<string, string> } | undefined {
  for (const name of OPERATIONS) {
    const [verb, template] = name.split(' ') as [string, string];
    const pattern = new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const match = verb === method ? pattern.exec(path) : null;
    if (match) return { name, path: Object.fromEntries(Object.entries(match.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)])) };
  }
  return undefined;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
}
