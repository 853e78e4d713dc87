import { type GitOptions, resolveCommit, runGit } from './git.ts';
import type { Ran } from './process.ts';

/** Which repository of which host a remote address is of. */
export interface RemoteRepository {
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
}

/** `https://host/owner/repo.git`, `ssh://git@host/owner/repo`, `git@host:owner/repo.git`; null for anything else, such as a folder. */
export function readRemote(address: string): RemoteRepository | null {
  const url = /^(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(address);
  const scp = /^(?:[^@/:]+@)?([^/:]+):([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(address);
  const [, host, owner, repo] = url ?? scp ?? [];
  // In the path of a call `..` would lead elsewhere.
  const isName = (part: string | undefined): part is string => part !== undefined && /^(?!\.{1,2}$)[\w.-]+$/.test(part);
  return host && isName(owner) && isName(repo) ? { host, owner, repo } : null;
}

/** The address of `origin`; null where there is none. */
export async function originOf(repository: string, options: GitOptions = {}): Promise<string | null> {
  const { code, stdout } = await runGit(repository, ['config', '--get', 'remote.origin.url'], { ...options, reads: true, answers: [1] });
  return code === 0 ? stdout.trim() : null;
}

/** The branch that everybody's work goes to: what `origin` says, else `main` or `master`. */
export async function defaultBranch(repository: string, options: GitOptions = {}): Promise<string | null> {
  const { code, stdout } = await runGit(repository, ['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD'], { ...options, reads: true, answers: [1] });
  if (code === 0) return stdout.trim().replace(/^refs\/remotes\/origin\//, '');
  for (const name of ['main', 'master']) if (await resolveCommit(repository, `refs/heads/${name}`, options)) return name;
  return null;
}

/** Commits that the branch has and the base has not, and whether their content differs at all. */
export async function hasChanges(repository: string, base: string, branch: string, options: GitOptions = {}): Promise<boolean> {
  const { code } = await runGit(repository, ['diff', '--quiet', '--no-ext-diff', '--no-textconv', `${base}...${branch}`, '--'], {
    ...options,
    reads: true,
    answers: [1],
  });
  return code === 1;
}

const PUSH_MS = 120_000;

export type RemoteWhy = 'rejected' | 'refused' | 'unauthorized' | 'unreachable' | 'failed';

/** The remote would not, or could not be asked. */
export class RemoteFailed extends Error {
  override readonly name = 'RemoteFailed';
  readonly why: RemoteWhy;

  constructor(why: RemoteWhy, message: string) {
    super(message);
    this.why = why;
  }
}

/** The commit at which `origin` has the branch, asked there; null: it has none of that name. */
export async function remoteBranch(repository: string, branch: string, options: GitOptions = {}): Promise<string | null> {
  const args = ['ls-remote', '--heads', '--', 'origin', `refs/heads/${branch}`];
  const said = requireDone(await runGit(repository, args, { timeoutMs: PUSH_MS, ...options, reads: true, answers: [1, 128] }));
  // It takes the name for a pattern and answers with all that end in it.
  const line = said.split('\n').find((one) => one.endsWith(`\trefs/heads/${branch}`));
  return line?.split('\t')[0] || null;
}

/** Brings a branch of `origin` here, as far as its commits are not here yet. No branch of the repository moves. */
export async function fetchBranch(repository: string, branch: string, options: GitOptions = {}): Promise<void> {
  const args = [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--recurse-submodules=no',
    '--',
    'origin',
    `refs/heads/${branch}`,
  ];
  requireDone(await runGit(repository, args, { timeoutMs: PUSH_MS, ...options, answers: [1, 128] }));
}

export interface Push extends GitOptions {
  /** Where the branch is to stand on the remote; by default where it stands here. */
  readonly commit?: string;
}

/** To a branch of the same name, never by force. */
export async function pushBranch(repository: string, branch: string, { commit, ...options }: Push = {}): Promise<void> {
  const refspec = `${commit ?? `refs/heads/${branch}`}:refs/heads/${branch}`;
  const args = ['push', '--porcelain', '--no-follow-tags', '--recurse-submodules=no', '--', 'origin', refspec];
  requireDone(await runGit(repository, args, { timeoutMs: PUSH_MS, ...options, answers: [1, 128] }));
}

function requireDone({ code, stdout, stderr }: Ran): string {
  if (code === 0) return stdout;
  throw failureOf(stdout, stderr);
}

const SIGNS: readonly (readonly [RemoteWhy, RegExp])[] = [
  [
    'unauthorized',
    /authentication failed|could not read (username|password)|invalid username|permission (to .* )?denied|error: (401|403)|access denied|host key/i,
  ],
  ['unauthorized', /repository not found|repository '.*' not found/i],
  [
    'unreachable',
    /could not resolve|unable to access|connection|timed out|network is unreachable|could not read from remote|does not appear to be a git repository/i,
  ],
];

function failureOf(stdout: string, stderr: string): RemoteFailed {
  const [, rejected] = /^!\t\S+\t\[rejected\] \((.*)\)$/m.exec(stdout) ?? [];
  if (rejected !== undefined) return new RemoteFailed('rejected', rejected);
  const [, refused] = /^!\t\S+\t\[remote rejected\] \((.*)\)$/m.exec(stdout) ?? [];
  const lines = stderr.split('\n').map((line) => line.trim());
  if (refused !== undefined) {
    const reasons = lines.flatMap((line) => (/^remote: *\S/.test(line) ? [line.slice('remote:'.length).trim()] : []));
    return new RemoteFailed('refused', [refused, ...reasons].join('; ').slice(0, 500));
  }
  const said = lines.find((line) => /^(fatal|error|ERROR):/.test(line)) ?? lines.find((line) => line !== '') ?? 'git gave no reason';
  const why = SIGNS.find(([, sign]) => sign.test(stderr))?.[0] ?? 'failed';
  return new RemoteFailed(
    why,
    withoutPasswords(said)
      .replace(/^(fatal|error): */i, '')
      .slice(0, 500),
  );
}

/** Of the addresses in a text. */
export const withoutPasswords = (text: string): string => text.replaceAll(/\/\/[^/\s]*@/g, '//');

/** The name of the variable by which the program that git asks for a password knows it. */
const PASSWORD = 'COVENANT_REMOTE_PASSWORD';
/** Fixed words: the password is not among them. */
const ANSWER = `!f() { test "$1" = get && printf 'username=x-access-token\\npassword=%s\\n' "$${PASSWORD}"; }; f`;

/** What git needs in its environment to push with this password to an https address, and to that host alone. Any other way in is the user's own. */
export function withPassword(address: string, password: string): Record<string, string> {
  if (!/^https:\/\//i.test(address) || !URL.canParse(address)) return {};
  const host = `https://${new URL(address).host}`;
  const whole = Object.assign(new URL(address), { password: '' }).href;
  const settings = [
    // Empty: those that the user has set up for this host are not asked.
    [`credential.${host}.helper`, ''],
    [`credential.${host}.helper`, ANSWER],
    // A repository's own configuration must not send it where anybody can read it. Of several that fit, git takes the longest address.
    [`http.${whole}.sslVerify`, 'true'],
  ] as const;
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { ...Object.fromEntries(numbered), GIT_CONFIG_COUNT: String(settings.length), [PASSWORD]: password };
}
