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

/** Anyone who can read the credentials of the home is the operator. If the database does not contain the stored token, a new one replaces it. */
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

/** A sign-in link for the first developer. If there is none, one is created from git's user.name or the account name. */
export async function firstSigninLink(app: App): Promise<{ path: string; developer: string }> {
  const name = await personName();
  return await app.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    const developer = (await firstDeveloper(tx.db, tx.workspace)) ?? (await makeOwnAccount(tx, name));
    const { path } = await makeSigninLink(tx, developer, ACTOR);
    return { path, developer: developer.name };
  });
}

/** The operator's account on the dashboard. It may run agents, because the operator can run them on this machine anyway. */
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
    // Git is missing, or its configuration contains no name. Then the account name is used.
  }
  try {
    return clean(userInfo().username) || 'developer';
  } catch {
    return 'developer';
  }
}
