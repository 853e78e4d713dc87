import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { createGitHub, type GitHub } from '../../machine/github/github.ts';
import { type FakeGitHub, fakeGitHub } from '../stand-ins/github.ts';
import { type InstanceApp, type InstanceAppOptions, instanceApp } from './instances.ts';
import { type TestRepository, temporaryRepository } from './repository.ts';

export const ADDRESS = 'https://github.com/acme/app.git';

/** Creates a repository whose origin has an address on GitHub. The user's git configuration (`userConfig`) redirects this address to a folder on this disk. */
export function repositoryOnGitHub(): { repository: TestRepository; origin: string; userConfig: string } {
  const repository = temporaryRepository();
  const origin = join(dirname(repository.path), 'origin.git');
  repository.git(['init', '--quiet', '--bare', '--initial-branch=main', '--', origin]);
  repository.git(['remote', 'add', 'origin', ADDRESS]);
  const userConfig = join(dirname(repository.path), '.gitconfig');
  writeFileSync(userConfig, `[url ${JSON.stringify(origin)}]\n\tinsteadOf = ${ADDRESS}\n\tinsteadOf = https://someone:hunter2@github.com/acme/app.git\n`);
  vi.stubEnv('GIT_CONFIG_GLOBAL', userConfig);
  repository.git(['push', '--quiet', 'origin', 'main']);
  repository.git(['remote', 'set-head', 'origin', 'main']);
  return { repository, origin, userConfig };
}

export interface GitHubApp extends InstanceApp {
  readonly github: FakeGitHub;
  readonly origin: string;
  /** Returns the commit of the branch on the remote, or null if the branch was not pushed. */
  pushed(branch: string): string | null;
  /** Starts another server that uses the same machine, store and GitHub. */
  another(options?: InstanceAppOptions): Promise<InstanceApp>;
}

/** The product with a stand-in for GitHub, which checks all calls and answers against GitHub's API description. */
export async function gitHubApp(options: InstanceAppOptions & { hand?: (real: GitHub) => GitHub } = {}): Promise<GitHubApp> {
  const github = await fakeGitHub();
  onTestFinished(() => github.stop());
  vi.stubEnv('GITHUB_TOKEN', github.token);
  const { repository, origin } = repositoryOnGitHub();
  const pushed = (branch: string) => repository.git(['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`], origin) || null;
  github.hasBranch = (name) => pushed(name) !== null;
  const more = { repository, github: { base_url: github.url } };
  const hand = options.hand?.(createGitHub({ token: github.token, baseUrl: github.url }));
  const app = await instanceApp({ ...more, ...options, ...(hand ? { gitHubHand: hand } : {}) });
  const { database, host } = app;
  return { ...app, github, origin, pushed, another: (its = {}) => instanceApp({ ...more, database, host, ...its }) };
}

/** Simulates a server that dies when GitHub has carried out this step the given number of times, but before it receives the last answer. */
export function dyingAfter(step: 'createPull' | 'createIssue', times = 1): { hand: (real: GitHub) => GitHub; died: Promise<void> } {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const hand = (real: GitHub): GitHub => {
    let left = times;
    const fatal = async (...args: unknown[]) => {
      const made = await (real[step] as (...args: unknown[]) => Promise<unknown>)(...args);
      if (--left > 0) return made;
      resolve();
      return await new Promise<never>(() => {});
    };
    return { ...real, [step]: fatal };
  };
  return { hand, died };
}
