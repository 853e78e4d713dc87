import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../store/database.ts';

/** A real git repository with one commit on `main`, deleted when the test ends. */
export interface TestRepository {
  readonly path: string;
  /** Runs git in the repository or another folder, and returns its output. */
  git(args: readonly string[], folder?: string): string;
  write(file: string, text: string, folder?: string): void;
  /** Writes a file and commits it, and returns the commit. */
  commit(file: string, text: string, folder?: string): string;
  branches(): string[];
  /** Returns the folders of all linked worktrees. */
  worktrees(): string[];
  /** Lists the folder in which the server creates worktrees. */
  onDisk(): string[];
}

const IDENTITY = { GIT_AUTHOR_NAME: 'Test', GIT_AUTHOR_EMAIL: 'test@localhost', GIT_COMMITTER_NAME: 'Test', GIT_COMMITTER_EMAIL: 'test@localhost' };

export function temporaryRepository({ commits = 1 } = {}): TestRepository {
  const path = join(realpathSync(temporaryFolder()), 'app');
  mkdirSync(path);
  const git: TestRepository['git'] = (args, folder = path) =>
    execFileSync('git', ['-C', folder, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: dirname(path), GIT_CONFIG_NOSYSTEM: '1', ...IDENTITY },
    }).trim();
  const write: TestRepository['write'] = (file, text, folder = path) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const commit: TestRepository['commit'] = (file, text, folder = path) => {
    write(file, text, folder);
    git(['add', '--', file], folder);
    git(['commit', '--quiet', '--message', `Change ${file}`], folder);
    return git(['rev-parse', 'HEAD'], folder);
  };
  git(['init', '--quiet', '--initial-branch=main']);
  for (let made = 0; made < commits; made++) commit(`file-${made}.txt`, `${made}\n`);
  return {
    path,
    git,
    write,
    commit,
    branches: () => git(['for-each-ref', '--format=%(refname:short)', 'refs/heads']).split('\n'),
    worktrees: () =>
      git(['worktree', 'list', '--porcelain'])
        .split('\n')
        .flatMap((line) => (line.startsWith('worktree ') ? [line.slice('worktree '.length)] : []))
        .slice(1),
    onDisk: () => (existsSync(`${path}-worktrees`) ? readdirSync(`${path}-worktrees`) : []),
  };
}
