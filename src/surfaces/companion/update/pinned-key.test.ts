import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { servedApp } from '../../../testing/app.ts';
import { standIn } from '../../../testing/programs/bridge.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { pinnedKey, settleUpdateKey } from './pinned-key.ts';
import { fingerprintOf, newSigningKey } from './signature.ts';

test('setup pins the first key that the server announces, and replaces it only if a person gives the new fingerprint [harden.companion.signed-updates]', async () => {
  const [first, second] = [newSigningKey().publicKey, newSigningKey().publicKey];
  let named: string | undefined;
  const origin = await standIn((_, response) => response.end(JSON.stringify({ public_key: named })));
  const env = { HOME: temporaryFolder() };
  const settle = (expected?: string) => settleUpdateKey(env, origin, 'cv_any', expected);
  expect([await settle(), pinnedKey(env, origin)]).toEqual([{ pinned: null, isNew: false, other: null }, undefined]);
  named = 'ed25519:short';
  expect((await settle()).pinned).toBeNull();
  named = first;
  await expect(settle(fingerprintOf(second))).rejects.toMatchObject({ code: 'OTHER_UPDATE_KEY' });
  expect(pinnedKey(env, origin)).toBeUndefined();
  expect(await settle()).toEqual({ pinned: fingerprintOf(first), isNew: true, other: null });
  expect(statSync(join(env.HOME, '.covibe/update-keys.json')).mode & 0o777).toBe(0o600);
  named = second;
  expect(await settle()).toEqual({ pinned: fingerprintOf(first), isNew: false, other: fingerprintOf(second) });
  named = undefined;
  expect(await settle()).toEqual({ pinned: fingerprintOf(first), isNew: false, other: null });
  expect([pinnedKey(env, origin), pinnedKey(env, 'http://127.0.0.1:1')]).toEqual([first, undefined]);
  named = second;
  expect(await settle(fingerprintOf(second))).toEqual({ pinned: fingerprintOf(second), isNew: true, other: null });
  expect(pinnedKey(env, origin)).toBe(second);
});

test('a server reports that it has no key, but only to callers with a token', async () => {
  const { url, ...t } = await servedApp();
  const ana = await t.developer('ana');
  const get = async (headers: Record<string, string>) => await fetch(`${url}/api/companion/key`, { headers });
  expect((await get({})).status).toBe(401);
  const refused = await get({ authorization: `Bearer ${ana.token}` });
  expect([refused.status, await refused.json()]).toMatchObject([404, { data: { code: 'NO_UPDATE_KEY' } }]);
});
