import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GitPlace } from '../../machine/git/place.ts';
import { covibeHome, readJson, replaceFile } from '../../wire/covibe-home.ts';

/** A repository that an agent of this machine has worked in: the watcher looks after it. */
export interface KnownRepo {
  readonly path: string;
  readonly repo: string;
  readonly last_active_at: number;
}

export const reposPath = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'repos.json');

/** The server takes no more. */
const MAX_ITEMS = 200;
/** The file need not change with every call of an agent. */
const FRESH_MS = 10 * 60_000;

/** Last used first; those that are gone from the disk are left out. */
export function knownRepos(env: NodeJS.ProcessEnv): KnownRepo[] {
  const { repos } = (readJson(reposPath(env)) ?? {}) as { repos?: unknown };
  return (Array.isArray(repos) ? repos : []).filter(isKnownRepo).toSorted((a, b) => b.last_active_at - a.last_active_at);
}

export const presentRepos = (env: NodeJS.ProcessEnv): KnownRepo[] => knownRepos(env).filter(({ path }) => existsSync(path));

/** An agent works here. */
export function noteRepo(env: NodeJS.ProcessEnv, place: Pick<GitPlace, 'checkout' | 'repo'>, now: number): void {
  const known = knownRepos(env);
  const before = known.find(({ path }) => path === place.checkout);
  if (before && before.repo === place.repo && now - before.last_active_at < FRESH_MS) return;
  const repos = [{ path: place.checkout, repo: place.repo, last_active_at: now }, ...known.filter(({ path }) => path !== place.checkout)];
  replaceFile(reposPath(env), `${JSON.stringify({ repos: repos.slice(0, MAX_ITEMS) }, null, 2)}\n`);
}

function isKnownRepo(value: unknown): value is KnownRepo {
  const { path, repo, last_active_at } = (value ?? {}) as Partial<KnownRepo>;
  return typeof path === 'string' && typeof repo === 'string' && typeof last_active_at === 'number';
}
