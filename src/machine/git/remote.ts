import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProgramResult } from '../process/process.ts';
import { type GitOptions, git, resolveCommit, runGit, runGitIn } from './git.ts';
import { gitFoldersOf, writeGitFolder } from './git-files.ts';
import type { GitSetting } from './git-program.ts';
import { userSettings } from './git-user.ts';
import { isSafeAddress, protocolOf, rewrittenAddress, withoutPasswords } from './remote-address.ts';

/** Returns the address of `origin` from the repository's configuration, or null. Check the address before you use it. */
export async function originOf(repository: string, options: GitOptions = {}): Promise<string | null> {
  const { code, stdout } = await runGit(repository, ['config', '--no-includes', '--get', 'remote.origin.url'], { ...options, reads: true, answers: [1] });
  return code === 0 ? stdout.trim() : null;
}

const PUSH_MS = 120_000;

export type RemoteWhy = 'rejected' | 'refused' | 'unauthorized' | 'unreachable' | 'failed';

/** The remote could not be reached, or it refused the request. */
export class RemoteFailed extends Error {
  override readonly name = 'RemoteFailed';
  readonly why: RemoteWhy;

  constructor(why: RemoteWhy, message: string) {
    super(message);
    this.why = why;
  }
}

export interface RemoteOptions extends GitOptions {
  /** The address of the remote, which the caller has checked. The address in the repository's configuration is not used. */
  readonly address: string;
  readonly access?: RemoteAccess | undefined;
}

/** Asks the remote for the commit of the branch. Returns null if the branch does not exist there. */
export async function remoteBranch(repository: string, branch: string, options: RemoteOptions): Promise<string | null> {
  const said = requireDone(await speak(repository, 'fetch', (url) => ['ls-remote', '--heads', '--', url, `refs/heads/${branch}`], { ...options, reads: true }));
  // Git treats the name as a pattern and returns all refs that end with it.
  const line = said.split('\n').find((one) => one.endsWith(`\trefs/heads/${branch}`));
  return line?.split('\t')[0] || null;
}

/** Fetches the missing commits of a remote branch. Does not change any local branch. */
export async function fetchBranch(repository: string, branch: string, options: RemoteOptions): Promise<void> {
  const plain = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--recurse-submodules=no'];
  requireDone(await speak(repository, 'fetch', (url) => ['fetch', ...plain, '--', url, `refs/heads/${branch}`], options));
}

export interface PushOptions extends RemoteOptions {
  /** The commit to push. By default, the commit of the local branch. */
  readonly commit?: string;
}

/** Pushes to the remote branch with the same name. Never forces the push. */
export async function pushBranch(repository: string, branch: string, { commit, ...options }: PushOptions): Promise<void> {
  const pushed = commit ?? (await resolveCommit(repository, `refs/heads/${branch}`, { signal: options.signal }));
  if (pushed === null) throw new RemoteFailed('failed', `the branch ${branch} does not exist, so it cannot be pushed`);
  const plain = ['--porcelain', '--no-follow-tags', '--no-verify', '--no-signed', '--recurse-submodules=no'];
  requireDone(await speak(repository, 'push', (url) => ['push', ...plain, '--', url, `${pushed}:refs/heads/${branch}`], options));
  // Update the remote-tracking branch as git does, so that the pushed commits are known to exist on the remote.
  await git(repository, ['update-ref', `refs/remotes/origin/${branch}`, pushed], { signal: options.signal });
}

/**
 * Runs a git command that contacts another machine. Git gets a temporary git folder with the repository's objects, but with our configuration. The
 * repository's settings for pushurl, insteadOf, sshCommand, proxies and credential helpers are therefore not used.
 */
async function speak(repository: string, way: 'fetch' | 'push', line: (url: string) => string[], options: RemoteOptions): Promise<ProgramResult> {
  const { address, access, ...rest } = options;
  const { network, rewrites } = await userSettings();
  const url = rewrittenAddress(requireSafe(address), rewrites, way);
  const { objects, commonFolder, format } = await gitFoldersOf(repository, rest);
  const scratch = await mkdtemp(join(tmpdir(), 'covenant-remote-'));
  try {
    await writeGitFolder(scratch, { head: null, format });
    await symlink(join(commonFolder, 'shallow'), join(scratch, 'shallow'));
    // Git needs these refs to tell the remote which commits exist here.
    const refs = await git(repository, ['for-each-ref', '--format=%(objectname) %(refname)'], { signal: rest.signal, reads: true });
    await writeFile(join(scratch, 'packed-refs'), refs);
    const isSameHost = access !== undefined && URL.canParse(url) && new URL(url).origin === access.origin;
    const world = {
      settings: [...network, ...FIXED, ...(isSameHost ? access.settings : [])],
      protocols: protocolOf(url),
      env: { GIT_DIR: scratch, GIT_OBJECT_DIRECTORY: objects, ...(isSameHost ? access.env : {}) },
    };
    return await runGitIn(world, scratch, line(url), { timeoutMs: PUSH_MS, ...rest, answers: [1, 128] });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const FIXED: readonly GitSetting[] = [
  ['core.hooksPath', '/dev/null'],
  // Follow redirects, because GitHub redirects requests for a renamed repository. The password is still sent only to its own host.
  ['http.followRedirects', 'initial'],
  ['gc.auto', '0'],
];

function requireSafe(address: string): string {
  if (isSafeAddress(address)) return address;
  throw new RemoteFailed('failed', 'the address of origin is neither https nor ssh');
}

function requireDone({ code, stdout, stderr }: ProgramResult): string {
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

/** The credential helper reads the password from this environment variable. */
const PASSWORD = 'COVENANT_REMOTE_PASSWORD';
/** The command of the credential helper. It does not contain the password, because other users can see command lines. */
const ANSWER = `!f() { test "$1" = get && printf 'username=x-access-token\\npassword=%s\\n' "$${PASSWORD}"; }; f`;

export interface RemoteAccess {
  readonly origin: string;
  readonly settings: readonly GitSetting[];
  readonly env: Readonly<Record<string, string>>;
}

/** Returns settings that make git use the password for this host only. Undefined if the address does not use https. */
export function withPassword(address: string, password: string): RemoteAccess | undefined {
  if (!/^https:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  const { origin } = new URL(address);
  const settings: readonly GitSetting[] = [
    [`credential.${origin}.helper`, ANSWER],
    ['http.sslVerify', 'true'],
  ];
  return { origin, settings, env: { [PASSWORD]: password } };
}
