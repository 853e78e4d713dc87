import { lstat, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../../kernel/log.ts';

export interface CompanionRelease {
  readonly latest_version: string;
  readonly tarball_sha256: string;
  /** File name of the release, next to the manifest. Companions that update themselves download it from this server. */
  readonly tarball?: string | undefined;
  /** Signature of version and hash, made with the key that companions have pinned. Without it, no companion installs the release. */
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

/** The release that this server offers to companions. The file is read on every call, so a new release needs no restart. If it is invalid, none is offered. */
export async function readManifest(path: string | undefined, log: Log): Promise<CompanionRelease | undefined> {
  if (path === undefined) return undefined;
  try {
    const found = await stat(path);
    // Reading a pipe or a device might never end.
    if (!found.isFile() || found.size > MAX_BYTES) throw new Error(`is not a file of at most ${MAX_BYTES} bytes`);
    return manifest.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    log.warn('cannot use the companion manifest', { path, reason: (error as Error).message });
    return undefined;
  }
}

/** The file of the release, next to the manifest. A link is not followed: it could lead to any file of this machine. */
export async function companionTarball(manifestPath: string | undefined, log: Log): Promise<{ path: string; size: number } | undefined> {
  const { tarball } = (await readManifest(manifestPath, log)) ?? {};
  if (manifestPath === undefined || tarball === undefined) return undefined;
  const path = join(dirname(manifestPath), tarball);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile()) return { path, size: found.size };
  log.warn('cannot use the companion tarball', { path });
  return undefined;
}

/** A companion that is newer than its server's release is told to install that release too. */
export const companionAnswer = ({ latest_version, tarball_sha256, signature }: CompanionRelease, installed: string) => ({
  latest_version,
  tarball_sha256,
  update_available: latest_version !== installed,
  ...(signature === undefined ? {} : { signature }),
});
