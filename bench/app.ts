import { sql } from 'kysely';
import { ensureDeveloper, ensureWorkspace, issueToken } from '../src/features/core/identity/index.ts';
import type { Principal } from '../src/kernel/call.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { DEFAULT_WORKSPACE_ID } from '../src/kernel/ids.ts';
import { createLog } from '../src/kernel/log.ts';
import { type App, createApp } from '../src/main.ts';
import type { Tx } from '../src/storage/write.ts';
import { testConfig } from '../src/testing/config.ts';

export interface Place {
  readonly path: string;
  readonly url?: string | undefined;
}

/** Opens the whole product in this process, without the network, on the store at `place`. */
export const openApp = ({ path, url }: Place): Promise<App> =>
  createApp({
    config: testConfig({ home: '/nonexistent', path, url }, { log_level: 'error', tool_timeout_ms: 600_000 }),
    clock: systemClock,
    log: createLog('error'),
    sweep: false,
  });

/** Creates the caller whose calls are measured. */
export const signUp = (app: App): Promise<BenchCaller> =>
  callerOf(app, async (tx) => {
    const { id } = await ensureDeveloper(tx, 'bench', 'operator');
    return await issueToken(tx, { kind: 'developer', developerId: id, expiresAt: null, by: 'operator' });
  });

export const developer = async (app: App): Promise<Principal> => (await signUp(app)).principal;

export const operator = async (app: App): Promise<Principal> =>
  (await callerOf(app, (tx) => issueToken(tx, { kind: 'operator', developerId: null, expiresAt: null, by: 'operator' }))).principal;

export interface BenchCaller {
  readonly principal: Principal;
  readonly token: string;
}

async function callerOf(app: App, issue: (tx: Tx) => ReturnType<typeof issueToken>): Promise<BenchCaller> {
  const { value } = await app.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    await ensureWorkspace(tx, 'operator');
    return await issue(tx);
  });
  const authenticated = await app.authenticate(value, 'bearer');
  if (!('principal' in authenticated)) throw new Error('the new token is refused');
  return { principal: authenticated.principal, token: value };
}

/** Vacuums PostgreSQL's tables. Under such a load, autovacuum would do this within minutes. */
export async function tidy(app: App): Promise<void> {
  if (app.store.kind === 'postgres') await sql`vacuum analyze`.execute(app.store.reader);
}

export { quantile } from './turns.ts';
