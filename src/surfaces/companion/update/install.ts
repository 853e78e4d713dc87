import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runProgram } from '../../../machine/process/process.ts';
import { type CurrentRelease, clearReleases, releasesFolder } from './current-release.ts';
import type { UpdateOffer } from './offer.ts';

/** The update failed and changed nothing. The message contains the reason. */
export class UpdateFailed extends Error {
  override readonly name = 'UpdateFailed';
}

const MAX_BYTES = 200 * 1024 * 1024;
const DOWNLOAD_MS = 5 * 60_000;
const INSTALL_MS = 5 * 60_000;
const VERSION_MS = 30_000;

/** Downloads the release, and verifies that its hash is the one that the server announced. Then installs it in its own folder, and runs it with `--version`. */
export async function installRelease(env: NodeJS.ProcessEnv, origin: string, token: string, offer: UpdateOffer): Promise<CurrentRelease> {
  const folder = join(releasesFolder(env), offer.latest_version);
  const tarball = `${folder}.tgz`;
  clearReleases(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    await download(origin, token, tarball, offer.tarball_sha256);
    await install(env, folder, tarball);
    const program = programIn(folder);
    await checkVersion(env, program, folder, offer.latest_version);
    return { version: offer.latest_version, program };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(tarball, { force: true });
  }
}

async function download(origin: string, token: string, path: string, sha256: string): Promise<void> {
  const response = await fetch(`${origin}/api/companion/tarball`, {
    headers: { authorization: `Bearer ${token}` },
    // Redirects are not followed, because the token would be sent to another address.
    redirect: 'manual',
    signal: AbortSignal.timeout(DOWNLOAD_MS),
  }).catch(() => undefined);
  if (!response?.ok || !response.body)
    throw new UpdateFailed(`the server did not deliver the release (${response ? `HTTP ${response.status}` : 'no connection'})`);
  const hash = createHash('sha256');
  const file = await open(path, 'w', 0o600);
  try {
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new UpdateFailed(`the release is larger than ${MAX_BYTES} bytes`);
      hash.update(chunk);
      await file.write(chunk);
    }
    await file.sync();
  } catch (error) {
    throw error instanceof UpdateFailed ? error : new UpdateFailed('the connection broke during the download');
  } finally {
    await file.close();
  }
  if (hash.digest('hex') !== sha256) throw new UpdateFailed('the hash of the release differs from the one that the server announced');
}

/** The arguments with which npm installs the tarball without running package scripts. */
const INSTALL = ['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--no-package-lock', '--prefix'];

async function install(env: NodeJS.ProcessEnv, folder: string, tarball: string): Promise<void> {
  const [file, args] = npm();
  const options = { cwd: folder, env, timeoutMs: INSTALL_MS, maxOutputBytes: 64 * 1024 };
  const ran = await runProgram(file, [...args, ...INSTALL, folder, '--', tarball], options).catch((error: Error) => error);
  if (ran instanceof Error) throw new UpdateFailed(`npm install failed: ${ran.message}`);
  if (ran.code !== 0) throw new UpdateFailed(`npm install failed (exit code ${ran.code})`);
}

/**
 * Returns the npm that was installed together with this Node, because the PATH of
 * a service may not contain npm. If there is none, returns the npm on the PATH.
 */
function npm(): [string, string[]] {
  const own = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js');
  return existsSync(own) ? [process.execPath, [own]] : ['npm', []];
}

function programIn(folder: string): string {
  try {
    return realpathSync(join(folder, 'node_modules/.bin/covibe-local'));
  } catch {
    throw new UpdateFailed('the release contains no covibe-local');
  }
}

async function checkVersion(env: NodeJS.ProcessEnv, program: string, cwd: string, version: string): Promise<void> {
  const options = { cwd, env, timeoutMs: VERSION_MS, maxOutputBytes: 1024 };
  const ran = await runProgram(process.execPath, [program, '--version'], options).catch(() => undefined);
  if (ran?.code !== 0) throw new UpdateFailed('the new version does not run on this machine');
  if (ran.stdout.trim() !== version) throw new UpdateFailed(`the new program does not report the version ${version}`);
}
