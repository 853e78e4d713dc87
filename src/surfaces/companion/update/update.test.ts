import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { servedApp } from '../../../testing/app.ts';
import { standIn } from '../../../testing/programs/bridge.ts';
import { companionRelease, quickNpm, RELEASE_KEY, type ReleaseOptions, sha256Of } from '../../../testing/programs/companion-release.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { VERSION } from '../../../version.ts';
import type { CliOutput } from '../../cli/output.ts';
import { currentRelease, switchToRelease } from './current-release.ts';
import { offerIn, type UpdateOffer } from './offer.ts';
import { pinKey } from './pinned-key.ts';
import { newSigningKey, readSigningKey, signRelease } from './signature.ts';
import { createUpdater } from './updater.ts';

async function offering(version: string, options: ReleaseOptions = {}) {
  const made = companionRelease(version, options);
  const { url, ...app } = await servedApp({ companionManifest: made.manifest });
  const ana = await app.developer('ana');
  const answer = await app.tool('covibe_session', { operation: 'heartbeat', companion_version: VERSION }, ana);
  const offer = offerIn((answer.body as { data: { companion: unknown } }).data.companion) as UpdateOffer;
  return { ...made, app, url, token: ana.token, offer };
}

const notes = (): CliOutput & { said: string[] } => {
  const said: string[] = [];
  return {
    said,
    note: (text) => void said.push(text),
    verbatim: () => {},
    stream: async () => {},
    result: () => {},
    utf8: true,
    columns: Number.POSITIVE_INFINITY,
    mark: { good: '✓', bad: '✗', wait: '!', quiet: '○' },
    tone: { you: '◆', live: '●', wait: '▲', bad: '✕', quiet: '○' },
  };
};
const machine = (npm = quickNpm()) => ({ ...process.env, HOME: temporaryFolder(), PATH: `${npm}:${process.env.PATH}` });

/** A machine that was set up while the server announced this key. */
const setUpMachine = (origin: string, npm?: string, key = RELEASE_KEY.publicKey) => {
  const env = machine(npm);
  pinKey(env, origin, key);
  return env;
};

test.each([
  ['99.0.0', 'with the npm of this Node', '/nowhere'],
  ['0.0.1', 'an older version', undefined],
])('downloads, verifies and installs an offered release, and switches to it: %s, %s', async (version, _, npm) => {
  const { url, token, offer } = await offering(version);
  const [env, out] = [setUpMachine(url, npm), notes()];
  expect(await createUpdater({ env, origin: url, enabled: true, out }).consider(offer, token)).toBe(true);
  const current = currentRelease(env);
  expect(current?.version).toBe(version);
  expect(execFileSync(process.execPath, [current?.program ?? '', '--version'], { encoding: 'utf8' })).toBe(`${version}\n`);
  expect(out.said).toEqual([`✓ updated from ${VERSION} to ${version}`]);
  expect(readdirSync(join(env.HOME, '.covibe/companion')).sort()).toEqual([version, 'current.json']);
});

test('keeps the previous release next to the new one, and no older one', async () => {
  const { url, token, offer } = await offering('99.0.0');
  const env = setUpMachine(url);
  const folder = join(env.HOME, '.covibe/companion');
  for (const name of ['1.0.0', '2.0.0', '3.0.0']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, '4.0.0.tgz'), 'cut off');
  writeFileSync(join(folder, '2.0.0/program'), '');
  switchToRelease(env, { version: '2.0.0', program: join(folder, '2.0.0/program') });
  expect(await createUpdater({ env, origin: url, enabled: true, out: notes() }).consider(offer, token)).toBe(true);
  expect(readdirSync(folder).sort()).toEqual(['2.0.0', '99.0.0', 'current.json']);
});

test('without the flag, announces a new release once and downloads nothing', async () => {
  const { url, token, offer } = await offering('99.0.0');
  const [env, out] = [machine(), notes()];
  const updater = createUpdater({ env, origin: url, enabled: false, out });
  expect([await updater.consider(offer, token), await updater.consider(offer, token)]).toEqual([false, false]);
  expect(out.said).toEqual([expect.stringContaining(`version 99.0.0 is available (this is ${VERSION})`)]);
  expect(existsSync(join(env.HOME, '.covibe'))).toBe(false);
});

test.each([
  ['another file than was signed', { instead: 'another file' }, 'the hash of the release differs'],
  ['another version', { says: '1.2.3' }, 'the new program does not report the version 99.0.0'],
  ['no file', { manifest: { tarball: 'absent.tgz' } }, 'the server did not deliver the release (HTTP 404)'],
])('a release with %s changes nothing, is reported once and retried later', async (_, more, reason) => {
  const { url, token, offer } = await offering('99.0.0', more);
  const [env, out] = [setUpMachine(url), notes()];
  let now = 0;
  const updater = createUpdater({ env, origin: url, enabled: true, out, now: () => now });
  expect(await updater.consider(offer, token)).toBe(false);
  expect(currentRelease(env)).toBeUndefined();
  expect(readdirSync(join(env.HOME, '.covibe/companion'))).toEqual([]);
  expect(out.said).toEqual([expect.stringContaining(reason)]);
  // The release is not retried before the pause is over.
  expect(await updater.consider({ ...offer, tarball_sha256: 'b'.repeat(64) }, token)).toBe(false);
  now = 11 * 60_000;
  await updater.consider(offer, token);
  expect(out.said).toHaveLength(1);
});

const OTHERS = newSigningKey();

test.each([
  ['by another key', '99.0.0', { signedBy: OTHERS.privateKey }, 'the release is not signed with the key pinned at setup'],
  ['by another key, and older', '0.0.1', { signedBy: OTHERS.privateKey }, 'the release is not signed with the key pinned at setup'],
  ['by nobody', '99.0.0', { signedBy: null }, 'the release is not signed'],
  ['by nobody, and older', '0.0.1', { signedBy: null }, 'the release is not signed'],
  ['for another file', '99.0.0', { manifest: { tarball_sha256: 'a'.repeat(64) } }, 'the release is not signed with the key pinned at setup'],
  ['as another version', '99.0.0', { manifest: { latest_version: '99.0.1' } }, 'the release is not signed with the key pinned at setup'],
])('a release signed %s is not even downloaded: %s [harden.companion.signed-updates]', async (_, version, options, reason) => {
  const { url, token, offer } = await offering(version, options);
  const [env, out] = [setUpMachine(url), notes()];
  expect(await createUpdater({ env, origin: url, enabled: true, out }).consider(offer, token)).toBe(false);
  expect([currentRelease(env), existsSync(join(env.HOME, '.covibe/companion'))]).toEqual([undefined, false]);
  expect(out.said).toEqual([expect.stringContaining(reason)]);
});

test('a machine without a pinned key for the server installs nothing and reports how to pin it [harden.companion.signed-updates]', async () => {
  const { url, token, offer } = await offering('99.0.0');
  const [env, out] = [machine(), notes()];
  pinKey(env, 'http://127.0.0.1:1', RELEASE_KEY.publicKey);
  expect(await createUpdater({ env, origin: url, enabled: true, out }).consider(offer, token)).toBe(false);
  expect(currentRelease(env)).toBeUndefined();
  expect(out.said).toEqual([expect.stringContaining(`run covibe-local setup --base-url ${url}`)]);
});

test('an npm failure changes nothing', async () => {
  const { url, token, offer, tarball } = await offering('99.0.0');
  writeFileSync(tarball, 'no archive');
  const [env, out] = [setUpMachine(url), notes()];
  const updater = createUpdater({ env, origin: url, enabled: true, out });
  const sha256 = sha256Of(tarball);
  const signature = signRelease(readSigningKey(RELEASE_KEY.privateKey), { version: '99.0.0', sha256 });
  expect(await updater.consider({ ...offer, tarball_sha256: sha256, signature }, token)).toBe(false);
  expect([currentRelease(env), out.said]).toEqual([undefined, [expect.stringContaining('npm install failed')]]);
});

test('does not run the package scripts of a release', async () => {
  const trace = join(temporaryFolder(), 'ran');
  const run = `node -e "require('fs').appendFileSync('${trace}', 'x')"`;
  const { url, token, offer } = await offering('99.0.0', { scripts: { preinstall: run, install: run, postinstall: run, prepare: run } });
  expect(await createUpdater({ env: setUpMachine(url, '/nowhere'), origin: url, enabled: true, out: notes() }).consider(offer, token)).toBe(true);
  expect(existsSync(trace)).toBe(false);
});

/** Returns the error of an update whose release this listener serves. */
async function failureWith(listener: RequestListener): Promise<string> {
  const out = notes();
  const [env, origin, sha256] = [machine(), await standIn(listener), 'a'.repeat(64)];
  pinKey(env, origin, RELEASE_KEY.publicKey);
  const signature = signRelease(readSigningKey(RELEASE_KEY.privateKey), { version: '99.0.0', sha256 });
  const offer = { latest_version: '99.0.0', tarball_sha256: sha256, update_available: true, signature };
  expect(await createUpdater({ env, origin, enabled: true, out }).consider(offer, 'cv_any')).toBe(false);
  return out.said.join();
}

test('does not follow a redirect of the release, because the other server would get the token', async () => {
  let followed = 0;
  const elsewhere = await standIn((_, response) => {
    followed++;
    response.end('anything');
  });
  const sending: RequestListener = (_, response) => response.writeHead(302, { location: `${elsewhere}/api/companion/tarball` }).end();
  expect(await failureWith(sending)).toContain('the server did not deliver the release (HTTP 302)');
  expect(followed).toBe(0);
});

test('stops the download of a release that is too large', async () => {
  const chunk = Buffer.alloc(4 * 1024 * 1024);
  let sent = 0;
  // The server sends only a limited amount. A client without a size limit would therefore end with a wrong hash, instead of reading forever.
  const flood: RequestListener = (_, response) => {
    while (sent < 256 * 1024 * 1024 && !response.destroyed) {
      sent += chunk.length;
      if (!response.write(chunk)) return void response.once('drain', () => flood(_, response));
    }
    response.end();
  };
  expect(await failureWith(flood)).toContain('the release is larger than');
});

test.each(['../..', '..', '/etc', 'a/b', '', '1'.repeat(65), 'current.json'])('accepts no release version %j', (latest_version) => {
  expect(offerIn({ latest_version, tarball_sha256: 'a'.repeat(64), update_available: true })).toBeUndefined();
});

test('the server delivers the release only to callers with a token, and only a file next to the manifest', async () => {
  const { app, url, token, folder, manifest, offer } = await offering('99.0.0');
  const get = async (bearer?: string) => await fetch(`${url}/api/companion/tarball`, bearer ? { headers: { authorization: `Bearer ${bearer}` } } : {});
  expect((await get()).status).toBe(401);
  const given = await get(token);
  expect([given.status, given.headers.get('content-type')]).toEqual([200, 'application/gzip']);
  expect(
    createHash('sha256')
      .update(Buffer.from(await given.arrayBuffer()))
      .digest('hex'),
  ).toBe(offer.tarball_sha256);
  const secret = join(temporaryFolder(), 'secret.tgz');
  writeFileSync(secret, 'secret');
  symlinkSync(secret, join(folder, 'link.tgz'));
  mkdirSync(join(folder, 'folder.tgz'));
  for (const tarball of ['link.tgz', 'folder.tgz', 'absent.tgz', '../secret.tgz', secret, 'manifest.json', undefined]) {
    writeFileSync(manifest, JSON.stringify({ latest_version: '99.0.0', tarball_sha256: offer.tarball_sha256, tarball }));
    const refused = await get(token);
    expect([refused.status, ((await refused.json()) as { data: { code: string } }).data.code], String(tarball)).toEqual([404, 'NO_RELEASE']);
  }
  expect(app.logged.some((line) => line.includes('cannot use the companion tarball'))).toBe(true);
});
