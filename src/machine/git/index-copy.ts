import { copyFile, stat, utimes } from 'node:fs/promises';

/**
 * Copies git's index and keeps its modification time, rounded down to a second. From that time git knows which files may have changed in the moment when they were staged, and reads
 * those files. With a later time, git would not notice such a change.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(from);
    await copyFile(from, to);
    // An earlier time is safe, because git then reads more files. Fractions of a second would be rounded.
    const second = Math.floor(mtimeMs / 1000);
    await utimes(to, second, second);
  } catch (error) {
    // A worktree in which nothing was ever staged has no index.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
