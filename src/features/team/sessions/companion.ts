import { lstat, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../../kernel/log.ts';

export interface CompanionRelease {
  readonly latest_version: string;
  readonly tarball_sha256: string;
  /** Name of the release file, which is in the same folder as the manifest. Companions that update themselves download it from this server. */
  readonly tarball?: string | undefined;
  /** Signature of the version and the hash. Companions verify it with a pinned key, and do not install a release without it. */
  readonly signature?: string | undefined;
}

const MAX_BYTES = 64 * 1024;

const version = z.string().min(1).max(64);
const manifest = z
  .object({
    latest_version: version.optional(),
    version: version.optional(),
    tarball_sha256: z.string().regex(/^[0-9a-f]{64}$/i, { error: 'expected a SHA-256 in hexadecimal' }),
    tarball: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,200}\.tgz$/, { error: 'expected the name of a .tgz next to the manifest, without a path' })
      .optional(),
    signature: z
      .string()
      .regex(/^[A-Za-z0-9+/]{86}==$/, { error: 'expected an Ed25519 signature in base64 from `covenant companion sign`' })
      .optional(),
  })
  .transform(({ latest_version, version: other, tarball_sha256, tarball, signature }, issues): CompanionRelease => {
    const latest = latest_version ?? other;
    if (latest !== undefined) return { latest_version: latest, tarball_sha256, tarball, signature };
    issues.addIssue({ code: 'custom', message: 'is missing latest_version' });
    return z.NEVER;
  });

/**
 * Reads the release that this server offers to companions. The manifest is read on every call, so a new release needs no restart. If the
 * manifest is invalid, the server offers no release.
 */
export async function readManifest(path: string | undefined, log: Log): Promise<CompanionRelease | undefined> {
  if (path === undefined) return undefined;
  try {
    const found = await stat(path);
    // A pipe or a device is refused, because reading it might never end.
    if (!found.isFile() || found.size > MAX_BYTES) throw new Error(`is not a file of at most ${MAX_BYTES} bytes`);
    return manifest.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    log.warn('cannot use the companion manifest', { path, reason: (error as Error).message });
    return undefined;
  }
}

/** Finds the release file next to the manifest. Links are not followed, because a link could lead to any file of this machine. */
export async function companionTarball(manifestPath: string | undefined, log: Log): Promise<{ path: string; size: number } | undefined> {
  const { tarball } = (await readManifest(manifestPath, log)) ?? {};
  if (manifestPath === undefined || tarball === undefined) return undefined;
  const path = join(dirname(manifestPath), tarball);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile()) return { path, size: found.size };
  log.warn('cannot use the companion tarball', { path });
  return undefined;
}

/** The reply to a companion. An update is also available if the companion is newer than the server's release. */
export const companionAnswer = ({ latest_version, tarball_sha256, signature }: CompanionRelease, installed: string) => ({
  latest_version,
  tarball_sha256,
  update_available: latest_version !== installed,
  ...(signature === undefined ? {} : { signature }),
});
