import { copyFile, stat, utimes } from 'node:fs/promises';

/**
 * Copies git's index and keeps its modification time, rounded down to a second. Git compares this time with the times of the files. If a file is not older
 * than the index, it may have changed just after it was staged, so git reads it. With a later time on the copy, git would not notice such a change.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(from);
    await copyFile(from, to);
    // Fractions of a second cannot be set exactly. An earlier time is safe, because git then only reads more files.
    const second = Math.floor(mtimeMs / 1000);
    await utimes(to, second, second);
  } catch (error) {
    // If nothing was ever staged in a worktree, it has no index.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
