import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import type { Log } from '../../kernel/log.ts';

export interface CompanionRelease {
  readonly latest_version: string;
  readonly tarball_sha256: string;
}

const MOST_BYTES = 64 * 1024;

const version = z.string().min(1).max(64);
const manifest = z
  .object({
    latest_version: version.optional(),
    version: version.optional(),
    tarball_sha256: z.string().regex(/^[0-9a-f]{64}$/i, { error: 'expected a SHA-256 in hexadecimal' }),
  })
  .transform(({ latest_version, version: other, tarball_sha256 }, issues): CompanionRelease => {
    const latest = latest_version ?? other;
    if (latest !== undefined) return { latest_version: latest, tarball_sha256 };
    issues.addIssue({ code: 'custom', message: 'names no latest_version' });
    return z.NEVER;
  });

/** The release that this server offers to companions. Read anew each time, so that a new release needs no restart; a broken file offers none. */
export async function readManifest(path: string | undefined, log: Log): Promise<CompanionRelease | undefined> {
  if (path === undefined) return undefined;
  try {
    const found = await stat(path);
    // A pipe or a device would be read for as long as it pleases.
    if (!found.isFile() || found.size > MOST_BYTES) throw new Error(`is not a file of at most ${MOST_BYTES} bytes`);
    return manifest.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    log.warn('companion manifest not usable', { path, reason: (error as Error).message });
    return undefined;
  }
}

/** Convergence: a machine that is ahead of its server comes back down to it. */
export const companionAnswer = (release: CompanionRelease, installed: string) => ({
  ...release,
  update_available: release.latest_version !== installed,
});
