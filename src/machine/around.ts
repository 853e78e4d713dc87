import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The repository around a folder, or the folder itself where there is none. From inside a worktree: the repository that it is of. */
export function repositoryAround(folder: string): string {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const main = mainCheckout(at);
    if (main) return main;
    if (at === dirname(at)) return resolve(folder);
  }
}

/** It holds one path. The server reads it in repositories that it has no reason to trust. */
const LARGEST_MARK = 16 * 1024;

function mainCheckout(folder: string): string | undefined {
  const mark = join(folder, '.git');
  const kind = orNothing(() => statSync(mark));
  if (kind?.isDirectory()) return folder;
  if (!kind?.isFile()) return undefined;
  if (kind.size > LARGEST_MARK) return folder;
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
