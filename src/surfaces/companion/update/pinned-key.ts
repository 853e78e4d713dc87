import { join } from 'node:path';
import { covibeHome, readJson, replaceFile } from '../../../wire/covibe-home.ts';
import { CliError } from '../../cli/command.ts';
import { ask } from '../server.ts';
import { fingerprintOf, PUBLIC_KEY } from './signature.ts';

/** The file with the keys that this machine trusts for releases. Setup stores one key for each server, under the origin of the server. */
const pathOf = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'update-keys.json');

const keysIn = (env: NodeJS.ProcessEnv): Record<string, unknown> => (readJson(pathOf(env)) ?? {}) as Record<string, unknown>;

/** Returns the pinned key of a server. If no key is pinned, no release of that server is installed. */
export function pinnedKey(env: NodeJS.ProcessEnv, origin: string): string | undefined {
  const key = keysIn(env)[origin];
  return typeof key === 'string' && PUBLIC_KEY.test(key) ? key : undefined;
}

export const pinKey = (env: NodeJS.ProcessEnv, origin: string, key: string): void =>
  replaceFile(pathOf(env), `${JSON.stringify({ ...keysIn(env), [origin]: key }, null, 2)}\n`);

/** The pinned key after setup. `other`: a different key that the server announces now and that is not trusted. */
export interface UpdateKey {
  readonly pinned: string | null;
  readonly isNew: boolean;
  readonly other: string | null;
}

/** Pins the server's key at the first setup. If the server announces another key later, it is pinned only if the person gives its fingerprint. */
export async function settleUpdateKey(env: NodeJS.ProcessEnv, origin: string, token: string, expected: string | undefined): Promise<UpdateKey> {
  const named = await namedKey(origin, token);
  const pinned = pinnedKey(env, origin);
  if (expected !== undefined && (named === undefined || fingerprintOf(named) !== expected)) {
    throw new CliError(
      'OTHER_UPDATE_KEY',
      `${origin} announces ${named === undefined ? 'no update key' : `the update key ${fingerprintOf(named)}`}, not ${expected}. No key was pinned.`,
      'Ask the publisher of the releases for the right fingerprint, then run `covibe-local setup --update-key FINGERPRINT`.',
    );
  }
  if (named !== undefined && named !== pinned && (pinned === undefined || expected !== undefined)) {
    pinKey(env, origin, named);
    return { pinned: fingerprintOf(named), isNew: true, other: null };
  }
  const other = named !== undefined && named !== pinned ? fingerprintOf(named) : null;
  return { pinned: pinned === undefined ? null : fingerprintOf(pinned), isNew: false, other };
}

async function namedKey(origin: string, token: string): Promise<string | undefined> {
  const asked = await ask(origin, '/api/companion/key', { token });
  if ('unreachable' in asked || asked.status !== 200) return undefined;
  const { public_key } = asked.body;
  return typeof public_key === 'string' && PUBLIC_KEY.test(public_key) ? public_key : undefined;
}
