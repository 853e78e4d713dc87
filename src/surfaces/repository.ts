import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** How a bridge or the CLI says in which repository its caller stands. */
export const REPOSITORY_HEADER = 'x-covenant-repository';

/** A header holds no letters beyond ASCII as they are. */
export const asHeader = (path: string): string => encodeURIComponent(path);

const LONGEST = 1_000;

/** Undefined where nothing usable was said: the call then has to name its repository itself. */
export function fromHeader(value: string | undefined): string | undefined {
  if (!value) return undefined;
  try {
    const path = decodeURIComponent(value);
    return path.length <= LONGEST && /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path) && !/\p{Cc}/u.test(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** The repository around a folder, or the folder itself where there is none. From inside a worktree: the repository that it is of. */
export function repositoryAround(folder: string): string {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const main = mainCheckout(at);
    if (main) return main;
    if (at === dirname(at)) return resolve(folder);
  }
}

function mainCheckout(folder: string): string | undefined {
  const mark = join(folder, '.git');
  const kind = orNothing(() => statSync(mark));
  if (kind?.isDirectory()) return folder;
  if (!kind?.isFile()) return undefined;
  // A linked worktree's mark names `<repository>/.git/worktrees/<name>`; a submodule's is elsewhere and stands for itself.
  const named = /^gitdir: (.+)$/m.exec(orNothing(() => readFileSync(mark, 'utf8')) ?? '')?.[1];
  const main = named && /^(.+)[\\/]\.git[\\/]worktrees[\\/][^\\/]+$/.exec(resolve(folder, named))?.[1];
  return main || folder;
}

/** What may not be looked at must not make a command fail that has nothing to do with it. */
function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
