import { relative, sep } from 'node:path';
import { userHome } from '../../../wire/covibe-home.ts';

/** As people call a file: from the top of the repository, or from their home. */
export function shownPath(env: NodeJS.ProcessEnv, root: string, path: string): string {
  const [inRoot, inHome] = [relative(root, path), relative(userHome(env), path)];
  if (!inRoot.startsWith('..')) return inRoot;
  return inHome.startsWith('..') ? path : `~${sep}${inHome}`;
}
