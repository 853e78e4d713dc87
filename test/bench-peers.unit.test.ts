import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { PEERS, withPeer } from '../bench/peers/peers.ts';
import { temporaryFolder } from '../src/testing/store/database.ts';

/** Creates a fake npm that first records that it ran, and then runs these commands. */
function npmThat(does: string): string {
  const bin = temporaryFolder();
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\ntouch '${join(bin, 'ran')}'\n${does}\n`);
  chmodSync(join(bin, 'npm'), 0o755);
  vi.stubEnv('PATH', `${bin}${delimiter}${process.env.PATH}`);
  return bin;
}

const name = `pg-boss ${PEERS['pg-boss']}`;

test('if the user has given a folder of peers, reports what it lacks and installs nothing into it', async () => {
  const folder = temporaryFolder();
  const bin = npmThat('');
  vi.stubEnv('COVENANT_PEERS', folder);
  expect(await withPeer('pg-boss', async () => 'measured')).toEqual({
    name,
    error: expect.stringMatching(/COVENANT_PEERS.* does not have pg-boss .*: install it there/),
  });
  expect([readdirSync(folder), readdirSync(bin)]).toEqual([[], ['npm']]);
});

test("reports npm's reason if a peer cannot be installed, and leaves no files", async () => {
  const cache = temporaryFolder();
  vi.stubEnv('COVENANT_PEERS', undefined);
  vi.stubEnv('XDG_CACHE_HOME', cache);
  npmThat("printf 'npm error code ETARGET\\nnpm error notarget No matching version found for x@^2.\\n' >&2; exit 1");
  expect(await withPeer('pg-boss', async () => 'measured')).toEqual({
    name,
    error: `npm could not install ${name}: notarget No matching version found for x@^2.`,
  });
  expect(readdirSync(join(cache, 'covenant-peers'))).toEqual([]);
});

test('installs a peer once, in its version, and measures it from there', async () => {
  const cache = temporaryFolder();
  vi.stubEnv('COVENANT_PEERS', undefined);
  vi.stubEnv('XDG_CACHE_HOME', cache);
  npmThat(`mkdir -p node_modules/pg-boss && echo '{"version":"${PEERS['pg-boss']}"}' > node_modules/pg-boss/package.json`);
  const place = join(cache, 'covenant-peers', `pg-boss-${PEERS['pg-boss']}`, 'node_modules/pg-boss');
  expect(await withPeer('pg-boss', async (folder) => folder)).toEqual({ name, value: place });
  npmThat('exit 1');
  expect(await withPeer('pg-boss', async (folder) => folder)).toEqual({ name, value: place });
});

test('reports a failure of a peer in the line of that peer and continues the run', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules/pg-boss'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/pg-boss/package.json'), JSON.stringify({ version: PEERS['pg-boss'] }));
  vi.stubEnv('COVENANT_PEERS', folder);
  const broken = withPeer('pg-boss', async () => {
    throw new Error('it fell over\nand said much');
  });
  expect(await broken).toEqual({ name, error: 'it fell over' });
});
