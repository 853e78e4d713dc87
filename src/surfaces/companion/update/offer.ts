/** The release that a server wants its companions to run. The server sends it in its answer to a heartbeat. */
export interface UpdateOffer {
  readonly latest_version: string;
  readonly tarball_sha256: string;
  readonly update_available: boolean;
  /** The signature of the publisher of the releases. */
  readonly signature: string | undefined;
}

/** Matches versions that are safe as a folder name. The folder is next to the file `current.json`, so a version must not have that name. */
const VERSION_NAME = /^[0-9][0-9A-Za-z.+-]{0,63}$/;

/** Reads the offer from a heartbeat answer. Returns undefined if the server offers no release, or an invalid one. */
export function offerIn(value: unknown): UpdateOffer | undefined {
  const { latest_version, tarball_sha256, update_available, signature } = (value ?? {}) as Partial<UpdateOffer>;
  if (typeof latest_version !== 'string' || !VERSION_NAME.test(latest_version)) return undefined;
  if (typeof tarball_sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(tarball_sha256)) return undefined;
  return {
    latest_version,
    tarball_sha256: tarball_sha256.toLowerCase(),
    update_available: update_available === true,
    signature: typeof signature === 'string' ? signature : undefined,
  };
}
