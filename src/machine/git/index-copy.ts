import { copyFile, stat, utimes } from 'node:fs/promises';

/**
 * A copy of git's index that git can trust. By the index's own time git knows which files may have changed in the same moment in which
 * they were staged, and looks into those; a copy with a later time would hide such a change.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(from);
    await copyFile(from, to);
    // Earlier is safe, it only makes git look into more files; a fraction of a second would be rounded.
    const second = Math.floor(mtimeMs / 1000);
    await utimes(to, second, second);
  } catch (error) {
    // A worktree in which nothing was ever staged has none.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
