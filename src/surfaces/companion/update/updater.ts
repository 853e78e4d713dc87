import { VERSION } from '../../../version.ts';
import type { CliOutput } from '../../cli/output.ts';
import { currentRelease, switchToRelease } from './current-release.ts';
import { installRelease, UpdateFailed } from './install.ts';
import type { UpdateOffer } from './offer.ts';
import { pinnedKey } from './pinned-key.ts';
import { isSigned } from './signature.ts';

export interface Updater {
  /** Handles an offered release. Returns whether another release is now installed and must take over. */
  consider(offer: UpdateOffer, token: string): Promise<boolean>;
  /** Records that this release does not work on this machine. */
  failed(version: string, reason: string): void;
}

const FIRST_PAUSE_MS = 10 * 60_000;
const LONGEST_PAUSE_MS = 6 * 60 * 60_000;

interface UpdaterOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly origin: string;
  /** Whether offered releases are installed. If false, a new release is only announced. */
  readonly enabled: boolean;
  readonly out: CliOutput;
  readonly now?: () => number;
}

/**
 * Refuses a release without a valid signature. The server must not decide alone
 * which program runs here, because someone could compromise or replace the server.
 */
function requireSigned(env: NodeJS.ProcessEnv, origin: string, { latest_version: version, tarball_sha256: sha256, signature }: UpdateOffer): void {
  const key = pinnedKey(env, origin);
  if (key === undefined) throw new UpdateFailed(`no update key is pinned for ${origin}; to pin it, run covibe-local setup --base-url ${origin}`);
  if (signature === undefined) throw new UpdateFailed('the release is not signed');
  if (!isSigned(key, { version, sha256 }, signature)) throw new UpdateFailed('the release is not signed with the key pinned at setup');
}

/** Switches to the version that the server offers, even an older one. A failed update changes nothing. It is reported once and retried later. */
export function createUpdater({ env, origin, enabled, out, now = Date.now }: UpdaterOptions): Updater {
  const attempts = new Map<string, { failures: number; notBefore: number }>();
  const told = new Set<string>();
  const once = (text: string) => {
    if (!told.has(text)) out.note(text);
    told.add(text);
  };
  const failed: Updater['failed'] = (version, reason) => {
    const failures = (attempts.get(version)?.failures ?? 0) + 1;
    attempts.set(version, { failures, notBefore: now() + Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS) });
    once(`${out.mark.wait} not updated to ${version}: ${reason}. Version ${VERSION} keeps running; the update is retried later`);
  };
  return {
    failed,
    async consider(offer, token) {
      const { latest_version: version } = offer;
      if (!offer.update_available || version === VERSION) return false;
      if (!enabled) {
        once(`${out.mark.quiet} version ${version} is available (this is ${VERSION}): run covibe-local watch --self-update, or install it by hand`);
        return false;
      }
      if (now() < (attempts.get(version)?.notBefore ?? 0)) return false;
      try {
        requireSigned(env, origin, offer);
        if (currentRelease(env)?.version !== version) switchToRelease(env, await installRelease(env, origin, token, offer));
        out.note(`${out.mark.good} updated from ${VERSION} to ${version}`);
        return true;
      } catch (error) {
        failed(version, error instanceof UpdateFailed ? error.message : `${(error as NodeJS.ErrnoException).code ?? (error as Error).name}`);
        return false;
      }
    },
  };
}
