import { createHash, type KeyObject } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fingerprintOf, newSigningKey, publicKeyOf, readSigningKey, signRelease } from '../../companion/update/signature.ts';
import { type CliCommand, CliError, option, UsageError } from '../command.ts';

/** Commands for the publisher of covibe-local releases. They need no server, so that the private key can stay on another machine. */
export const companionCommands: readonly CliCommand[] = [
  {
    name: 'companion keygen',
    local: true,
    summary: 'Create the key that signs releases of covibe-local.',
    arguments: [{ name: 'FILE', description: 'A new file for the private key.' }],
    examples: ['companion keygen release-key.pem'],
    async run(invocation) {
      const file = resolve(invocation.cwd, invocation.positionals[0] as string);
      if (existsSync(file)) throw new CliError('FILE_EXISTS', `${file} exists already. Nothing was changed.`, 'Give the path of a new file.');
      const { privateKey, publicKey } = newSigningKey();
      writeFileSync(file, privateKey, { mode: 0o600, flag: 'wx' });
      const fingerprint = fingerprintOf(publicKey);
      return {
        json: { kind: 'companion_key', file, public_key: publicKey, fingerprint },
        text: `${file} contains the private key. Keep the file on the machine that makes releases.\nfingerprint  ${fingerprint}\nAdd to the config.toml of the server:\n\n[companion]\npublic_key = "${publicKey}"`,
      };
    },
  },
  {
    name: 'companion sign',
    local: true,
    summary: 'Sign a release of covibe-local and write its manifest.',
    description: 'Writes manifest.json next to the tarball. A server that uses this manifest offers the release to the machines of agents.',
    arguments: [
      { name: 'VERSION', description: 'The version, such as 1.4.0.' },
      { name: 'TARBALL', description: 'The tarball that `npm run package` made.' },
    ],
    options: { key: { value: 'FILE', description: 'The file with the private key that `covenant companion keygen` made.', required: true } },
    examples: ['companion sign 1.4.0 covenant-1.4.0.tgz --key release-key.pem'],
    async run(invocation) {
      const [version, given] = invocation.positionals as [string, string];
      const keyFile = String(option(invocation, 'key'));
      if (!/^[0-9][0-9A-Za-z.+-]{0,63}$/.test(version)) throw new UsageError(`\`VERSION\` must be a version such as 1.4.0, not ${JSON.stringify(version)}`);
      const tarball = resolve(invocation.cwd, given);
      const key = keyIn(resolve(invocation.cwd, keyFile));
      const sha256 = await digestOf(tarball);
      const release = { latest_version: version, tarball_sha256: sha256, tarball: basename(tarball), signature: signRelease(key, { version, sha256 }) };
      const manifest = join(dirname(tarball), 'manifest.json');
      writeFileSync(manifest, `${JSON.stringify(release, null, 2)}\n`);
      const fingerprint = fingerprintOf(publicKeyOf(key));
      return {
        json: { kind: 'companion_release', manifest, fingerprint, ...release },
        text: `${manifest} offers ${version}, signed with the key ${fingerprint}. Set its path as \`manifest\` under [companion] in config.toml.`,
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
      `${file} is not a usable key (${code ?? 'not an Ed25519 key in PEM form'}).`,
      'Give the key file of your earlier releases: --key FILE. Only for the first release, make one: covenant companion keygen FILE',
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
