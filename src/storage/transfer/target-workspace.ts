import { type Kysely, sql } from 'kysely';
import type { Db } from '../engine.ts';
import { TransferRefused } from './format.ts';
import { OF_ONE_SERVER, TABLES, type TransferRow } from './layout.ts';

/** Tables that get rows when a server first starts and someone signs in. These rows are not anybody's work. */
const MADE_AT_START = ['workspaces', 'journal_heads', 'events', 'developers', 'tokens', 'signin_links'];
const TOKENS_OF_START = ['operator', 'web'] as const;
const EVENTS_OF_START = [
  'workspace.created',
  'developer.joined',
  'developer.run_agents_allowed',
  'token.created',
  'token.revoked',
  'signin.link_created',
  'signin.completed',
];

const rowsOf = (db: Db) => db as unknown as Kysely<Record<string, TransferRow>>;

/**
 * Prepares the workspace for an import. The workspace must not exist, or contain only the rows of a first start, which are deleted together with their
 * events.
 */
export async function clearUntouched(db: Db, workspace: string): Promise<void> {
  const found = await touchedBy(db, workspace);
  if (found !== undefined) {
    throw new TransferRefused(
      'WORKSPACE_IN_USE',
      `workspace: ${JSON.stringify(workspace.replace(/^ws_/, ''))} is in use in this database: it has ${found}.`,
      'Import into an empty database: set another COVENANT_HOME or DATABASE_URL. Nothing was changed.',
    );
  }
  for (const { name, owner } of TABLES) await rowsOf(db).deleteFrom(name).where(owner, '=', workspace).execute();
  // The rows of these tables refer to developers and tokens that were just deleted.
  for (const name of OF_ONE_SERVER) await db.deleteFrom(name).where('workspace_id', '=', workspace).execute();
}

async function touchedBy(db: Db, workspace: string): Promise<string | undefined> {
  for (const { name, owner } of TABLES) {
    if (MADE_AT_START.includes(name)) continue;
    if (await rowsOf(db).selectFrom(name).select(owner).where(owner, '=', workspace).limit(1).executeTakeFirst()) return `rows in ${name}`;
  }
  const developers = await db.selectFrom('developers').select('id').where('workspace_id', '=', workspace).limit(2).execute();
  if (developers.length > 1) return 'more than one developer';
  const token = await db.selectFrom('tokens').select('id').where('workspace_id', '=', workspace).where('kind', 'not in', TOKENS_OF_START).executeTakeFirst();
  if (token) return `the token ${token.id}`;
  const event = await db
    .selectFrom('events')
    .select(['seq', 'kind'])
    .where('workspace_id', '=', workspace)
    .where('category', '<>', 'usage')
    .where('kind', 'not in', EVENTS_OF_START)
    .limit(1)
    .executeTakeFirst();
  return event && `event ${event.seq}, ${event.kind}`;
}

/** Counts the rows that the workspace has in each table. */
export async function rowCounts(db: Db, workspace: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name, owner } of TABLES) {
    const row = await rowsOf(db).selectFrom(name).select(sql<number>`count(*)`.as('n')).where(owner, '=', workspace).executeTakeFirstOrThrow();
    counts[name] = Number(row.n);
  }
  return counts;
}
