import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hooksFolder } from '../guard/install.ts';
import { GUARDED, scriptState } from '../guard/script.ts';
import { type Check, type Checked, failed, ok, open } from './check.ts';

/** Nobody has to have it. */
export async function guardChecks({ setup: { root } }: Checked): Promise<Check[]> {
  const folder = await hooksFolder(root).catch(() => undefined);
  // Without git there is nothing to guard, and its absence has a line of its own.
  if (folder === undefined) return [];
  const hooks = GUARDED.map((hook) => hookIn(join(folder, hook)));
  const broken = hooks.filter((hook) => hook.state === 'broken');
  if (broken.length > 0) return broken.map(({ message }) => failed('guard', message, 'mend it, or move it away; then covibe-local doctor'));
  return [
    hooks.every(({ state }) => state === 'ours')
      ? ok('guard', 'commit guard installed')
      : open('guard', 'no commit guard; covibe-local guard install adds one'),
  ];
}

function hookIn(path: string): { state: ReturnType<typeof scriptState> | 'absent' } | { state: 'broken'; message: string } {
  try {
    return { state: scriptState(readFileSync(path, 'latin1')) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { state: 'absent' } : { state: 'broken', message: `git's hook ${path} cannot be read (${code})` };
  }
}
