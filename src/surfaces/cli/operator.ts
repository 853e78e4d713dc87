import { userInfo } from 'node:os';
import {
  type DeveloperRow,
  ensureDeveloper,
  ensureWorkspace,
  firstDeveloper,
  issueToken,
  makeSigninLink,
  setRunAgents,
} from '../../features/core/identity/index.ts';
import type { Principal } from '../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../../kernel/ids.ts';
import { userSettings } from '../../machine/git/git-user.ts';
import type { App } from '../../main.ts';
import type { Tx } from '../../storage/write.ts';
import { readCredentials, writeCredentials } from './home.ts';

const ACTOR = 'operator';

/** Returns the operator's token. Anyone who can read it in the home counts as the operator. If the stored token is not valid, a new token replaces it. */
export async function ensureOperator(app: App): Promise<{ principal: Principal; token: string }> {
  const known = readCredentials(app.config.home);
  const authenticated = await app.authenticate(known, 'bearer');
  if (known && 'principal' in authenticated && authenticated.principal.kind === 'operator') return { principal: authenticated.principal, token: known };
  const { value } = await app.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    await ensureWorkspace(tx, ACTOR);
    return await issueToken(tx, { kind: 'operator', developerId: null, expiresAt: null, by: ACTOR });
  });
  writeCredentials(app.config.home, value);
  const fresh = await app.authenticate(value, 'bearer');
  if (!('principal' in fresh)) throw new Error(`the new operator token was refused: ${fresh.rejected}`);
  return { principal: fresh.principal, token: value };
}

/** Returns a sign-in link for the first developer. If no developer exists, one is created. Its name is git's user.name or the name of the account. */
export async function firstSigninLink(app: App): Promise<{ path: string; developer: string }> {
  const name = await personName();
  return await app.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    const developer = (await firstDeveloper(tx.db, tx.workspace)) ?? (await makeOwnAccount(tx, name));
    const { path } = await makeSigninLink(tx, developer, ACTOR);
    return { path, developer: developer.name };
  });
}

/** Creates the operator's account for the dashboard. The account may run agents, because the operator can run any program on this machine anyway. */
async function makeOwnAccount(tx: Tx, name: string): Promise<DeveloperRow> {
  const developer = await ensureDeveloper(tx, name, ACTOR);
  await setRunAgents(tx, developer, true, ACTOR);
  return developer;
}

async function personName(): Promise<string> {
  const clean = (text: string) =>
    text
      .replace(/[\p{Cc}@]/gu, '')
      .trim()
      .slice(0, 100);
  try {
    const name = clean((await userSettings()).name ?? '');
    if (name) return name;
  } catch {
    // If git is missing or its configuration contains no name, the account name is used.
  }
  try {
    return clean(userInfo().username) || 'developer';
  } catch {
    return 'developer';
  }
}
