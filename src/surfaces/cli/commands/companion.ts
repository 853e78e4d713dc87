import { createHash, type KeyObject } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fingerprintOf, newSigningKey, publicKeyOf, readSigningKey, signRelease } from '../../companion/update/signature.ts';
import { type CliCommand, CliError, option, UsageError } from '../command.ts';

/** For whoever publishes releases of the companion. The private key needs no server, and is best kept away from it. */
export const companionCommands: readonly CliCommand[] = [
  {
    name: 'companion keygen',
    local: true,
    summary: 'Make the key that signs releases of the companion. FILE gets the private key.',
    positionals: ['FILE'],
    async run(invocation) {
      const file = resolve(invocation.cwd, invocation.positionals[0] as string);
      if (existsSync(file)) throw new CliError('FILE_EXISTS', `${file} is already there. Nothing was changed.`, 'Give the path of a new file.');
      const { privateKey, publicKey } = newSigningKey();
      writeFileSync(file, privateKey, { mode: 0o600, flag: 'wx' });
      const fingerprint = fingerprintOf(publicKey);
      return {
        json: { kind: 'companion_key', file, public_key: publicKey, fingerprint },
        text: `${file} has the private key: keep it where releases are made.\nfingerprint  ${fingerprint}\nIn the config.toml of the server:\n\n[companion]\npublic_key = "${publicKey}"`,
      };
    },
  },
  {
    name: 'companion sign',
    local: true,
    summary: 'Sign a release of the companion, and write the manifest that offers it beside the tarball.',
    positionals: ['VERSION', 'TARBALL'],
    options: { key: { type: 'string' } },
    async run(invocation) {
      const [version, given] = invocation.positionals as [string, string];
      const keyFile = option(invocation, 'key');
      if (keyFile === undefined) throw new UsageError('--key FILE names the private key that `covenant companion keygen` made');
      if (!/^[0-9][0-9A-Za-z.+-]{0,63}$/.test(version)) throw new UsageError(`${JSON.stringify(version)} is no version, such as 1.4.0`);
      const tarball = resolve(invocation.cwd, given);
      const key = keyIn(resolve(invocation.cwd, keyFile));
      const sha256 = await digestOf(tarball);
      const release = { latest_version: version, tarball_sha256: sha256, tarball: basename(tarball), signature: signRelease(key, { version, sha256 }) };
      const manifest = join(dirname(tarball), 'manifest.json');
      writeFileSync(manifest, `${JSON.stringify(release, null, 2)}\n`);
      const fingerprint = fingerprintOf(publicKeyOf(key));
      return {
        json: { kind: 'companion_release', manifest, fingerprint, ...release },
        text: `${manifest} offers ${version}, signed by ${fingerprint}. Name it as [companion] manifest in config.toml.`,
      };
    },
  },
];

function keyIn(file: string): KeyObject {
  try {
    return readSigningKey(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(
      'KEY_UNUSABLE',
      `${file} cannot be used as a key (${code ?? 'no Ed25519 key in PEM form'}).`,
      'Make one with `covenant companion keygen FILE`.',
    );
  }
}

async function digestOf(file: string): Promise<string> {
  const digest = createHash('sha256');
  try {
    await pipeline(createReadStream(file), digest);
  } catch (error) {
    throw new CliError(
      'FILE_UNREADABLE',
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      'Give the path of the tarball that `npm run package` made.',
    );
  }
  return digest.digest('hex');
}
