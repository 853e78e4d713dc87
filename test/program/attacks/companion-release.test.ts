import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testMachine } from '../../../src/testing/programs/companion.ts';
import { companionRelease, quickNpm } from '../../../src/testing/programs/companion-release.ts';
import { covenant, startProgram } from '../../../src/testing/programs/program.ts';
import { temporaryRepository } from '../../../src/testing/scenes/repository.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';

test('a server that offers a forged release cannot install it on a machine that was set up before [harden.companion.signed-updates]', async () => {
  const at = { home: temporaryFolder() };
  const run = async (...args: string[]) => (await covenant(at, ...args, '--json')).json as Record<string, string>;
  const keys = temporaryFolder();
  const [publishers, attackers] = [join(keys, 'publishers.pem'), join(keys, 'attackers.pem')];
  const key = await run('companion', 'keygen', publishers);
  const stranger = await run('companion', 'keygen', attackers);
  expect(readFileSync(publishers, 'utf8')).toContain('PRIVATE KEY');
  const { folder, manifest, tarball } = companionRelease('99.0.0', { signedBy: null });
  const config = (publicKey: string | undefined) =>
    writeFileSync(join(at.home, 'config.toml'), `[companion]\nmanifest = ${JSON.stringify(manifest)}\npublic_key = ${JSON.stringify(publicKey)}\n`);
  config(key.public_key);
  const server = await startProgram(at);
  const port = new URL(server.url).port;
  const token = (await run('tokens', 'create', '--developer', 'ana', '--agent', 'codex')).token as string;
  const machine = testMachine({ programs: ['codex'] });
  const repository = temporaryRepository();
  const env = { COVIBE_MCP_TOKEN: token, PATH: `${quickNpm()}:${machine.env.PATH}` };
  const setup = await machine.run(repository.path, ['setup', '--base-url', server.url, '--no-service'], env);
  expect(setup.stdout).toContain(`update key pinned: ${key.fingerprint}`);

  const watching = async (told: RegExp) => {
    const { child, ran, said } = machine.start(repository.path, ['watch', '--base-url', server.url, '--interval', '1', '--self-update'], env);
    await said(told);
    child.kill('SIGTERM');
    await ran;
  };
  const current = join(machine.home, '.covibe/companion/current.json');
  // An attacker who controls the server can change its manifest, files and configuration, but does not have the publisher's key.
  await watching(/not updated to 99\.0\.0: the release is not signed\. Version/);
  await run('companion', 'sign', '99.0.0', tarball, '--key', attackers);
  await watching(/not signed with the key pinned at setup/);
  config(stranger.public_key);
  await server.stop();
  await startProgram(at, port);
  await watching(/not signed with the key pinned at setup/);
  const again = await machine.run(repository.path, ['setup', '--base-url', server.url, '--no-service'], env);
  expect(again.stdout).toMatch(/announces a different update key.*the pinned key/);
  await watching(/not signed with the key pinned at setup/);
  expect(existsSync(current)).toBe(false);

  // A release that the publisher has signed is installed, even if it is older than the current one.
  const older = companionRelease('0.0.1', { signedBy: null });
  await run('companion', 'sign', '0.0.1', older.tarball, '--key', publishers);
  for (const name of ['manifest.json', 'companion-0.0.1.tgz']) writeFileSync(join(folder, name), readFileSync(join(older.folder, name)));
  await watching(/updated from .* to 0\.0\.1/);
  expect(JSON.parse(readFileSync(current, 'utf8'))).toMatchObject({ version: '0.0.1' });
});
