import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSigningKey, readSigningKey, signRelease } from '../../surfaces/companion/update/signature.ts';
import { temporaryFolder } from '../store/database.ts';

export interface ReleaseOptions {
  /** The version that the program reports, if it should differ from the real version. */
  readonly says?: string;
  /** The code that the program runs when it is not called with `--version`. */
  readonly program?: string;
  /** The install scripts in package.json. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** The key that signs the release. By default, it is the key that the companions in these tests trust. Null leaves the release unsigned. */
  readonly signedBy?: string | null;
  /** Another content for the tarball, which replaces the original after it was signed. */
  readonly instead?: string;
  /** Fields that replace those in the manifest. */
  readonly manifest?: Readonly<Record<string, unknown>>;
}

export const sha256Of = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The publisher's key pair. */
export const RELEASE_KEY = newSigningKey();

/** Creates a companion release as npm packs it, and the manifest of a server that offers this release. */
export function companionRelease(
  version: string,
  { says = version, program = '', scripts = {}, manifest = {}, instead, signedBy = RELEASE_KEY.privateKey }: ReleaseOptions = {},
) {
  const folder = temporaryFolder();
  const source = temporaryFolder();
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name: 'covenant', version, type: 'module', bin: { 'covibe-local': 'local.js' }, scripts }));
  writeFileSync(join(source, 'local.js'), `#!/usr/bin/env node\nif (process.argv[2] === '--version') console.log('${says}');\nelse {\n${program}\n}\n`);
  const tarball = `companion-${version}.tgz`;
  execFileSync('tar', ['-czf', join(folder, tarball), '--transform', 's,^\\.,package,', '-C', source, '.']);
  const path = join(folder, 'manifest.json');
  const sha256 = sha256Of(join(folder, tarball));
  const signature = signedBy === null ? undefined : signRelease(readSigningKey(signedBy), { version, sha256 });
  writeFileSync(path, JSON.stringify({ latest_version: version, tarball_sha256: sha256, tarball, signature, ...manifest }));
  if (instead !== undefined) writeFileSync(join(folder, tarball), instead);
  return { folder, manifest: path, tarball: join(folder, tarball) };
}

/**
 * Returns a folder for the PATH that contains a simple `npm`, which can only unpack a package without dependencies. The real npm takes several seconds for
 * this.
 */
export function quickNpm(): string {
  const bin = temporaryFolder();
  const script = `#!/bin/sh
set -e
while [ "$1" != --prefix ]; do shift; done
prefix=$2
[ "$3" = -- ]
mkdir -p "$prefix/node_modules/covenant" "$prefix/node_modules/.bin"
tar -xzf "$4" -C "$prefix/node_modules/covenant" --strip-components=1
ln -s ../covenant/local.js "$prefix/node_modules/.bin/covibe-local"
`;
  writeFileSync(join(bin, 'npm'), script);
  chmodSync(join(bin, 'npm'), 0o755);
  return bin;
}
