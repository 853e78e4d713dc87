import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type CallContext, record } from '../../../kernel/call.ts';
import { ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout } from '../../../storage/journal.ts';
import { hasRow } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { ensureWorkspace } from '../../core/identity/index.ts';
import { type DemoState, demoBegin, demoEnd, demoShow } from './contract.ts';
import { DEMO_SERVER, DEMO_WORKSPACE_ID, demoFolder } from './programs.ts';

/** The subject of the demo's events in the journal. */
const SUBJECT = 'demo';

export interface DemoPorts {
  readonly home: string;
  /** Starts the demo's external server. As soon as the file `changesWith` exists, the server changes one of its tool definitions. */
  readonly attach: (name: string, changesWith: string) => void;
  readonly detach: (name: string, actor: string) => Promise<void>;
  /** Revokes all tokens of the workspace. If `web` is false, browser sessions stay. */
  readonly revokeTokens: (tx: Tx, by: string, of: { readonly web: boolean }) => Promise<number>;
}

export const demoTools = ({ home, attach, detach, revokeTokens }: DemoPorts): Implementation[] => [
  implement(demoBegin, {
    run: async (_, ctx) => {
      requireDemoWorkspace(ctx);
      await ctx.write(async (tx) => {
        await ensureWorkspace(tx, ctx.principal.actor);
        const state = await demoState(tx.db, tx.workspace);
        if (state === 'begun')
          throw new Refusal(
            'DEMO_RUNNING',
            'A demo is already running, or an earlier one was interrupted.',
            'Wait until it ends, or run `covenant demo --clean` to remove it.',
          );
        if (state === 'kept')
          throw new Refusal('DEMO_KEPT', 'The data of the last demo was kept.', 'Run `covenant demo --clean` to remove it, then start the demo again.');
        // A demo must not start here, because its end would delete the data of these people.
        if (await hasPeople(tx.db, tx.workspace))
          throw new Refusal(
            'WORKSPACE_TAKEN',
            'The workspace demo is in use by people.',
            'Run the demo on another server: COVENANT_HOME=/tmp/covenant-demo covenant demo',
          );
        record(tx, ctx, { category: 'audit', kind: 'demo.begun', subject: SUBJECT });
      });
      const folder = demoFolder(home);
      // An interrupted demo may have left this folder behind.
      await removeFolder(folder);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      attach(DEMO_SERVER, join(folder, 'changed'));
      return ok({ folder, server: DEMO_SERVER });
    },
  }),
  implement(demoShow, {
    read: async (_, ctx) => {
      requireDemoWorkspace(ctx);
      return ok({ state: await demoState(ctx.reader, ctx.workspace) });
    },
  }),
  implement(demoEnd, {
    run: async ({ keep }, ctx) => {
      requireDemoWorkspace(ctx);
      const { actor } = ctx.principal;
      if (!hasDemo(await demoState(ctx.reader, ctx.workspace))) return ok({ revoked_tokens: 0, removed_rows: 0, kept: false });
      if (!keep) {
        await detach(DEMO_SERVER, actor);
        await removeFolder(demoFolder(home));
      }
      const ended = await ctx.write(async (tx) => {
        // The state is checked again, because another caller may have ended the demo in the meantime and people may now use the workspace.
        if (!hasDemo(await demoState(tx.db, tx.workspace))) return { revoked_tokens: 0, removed_rows: 0, kept: false };
        const revoked_tokens = await revokeTokens(tx, actor, { web: !keep });
        const removed_rows = keep ? 0 : await removeRows(tx.db, tx.workspace);
        record(tx, ctx, { category: 'audit', kind: keep ? 'demo.kept' : 'demo.ended', subject: SUBJECT, payload: { revoked_tokens, removed_rows } });
        return { revoked_tokens, removed_rows, kept: keep };
      });
      return ok(ended);
    },
  }),
];

/** Prevents pruning of the journal while there is a demo, because only the journal records that the demo exists. */
export async function demoHold(db: Db, workspace: string): Promise<{ why: string; next: string } | null> {
  if (workspace !== DEMO_WORKSPACE_ID || !hasDemo(await demoState(db, workspace))) return null;
  return { why: 'The workspace contains a demo, which only the journal records.', next: 'Run `covenant demo --clean`, then prune again.' };
}

const hasDemo = (state: DemoState): boolean => state === 'begun' || state === 'kept';

/** Retries for a while, because a program that has just ended may still have a file open. */
const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });

/** The end of a demo deletes all data of its workspace, so it must never run in another workspace. */
function requireDemoWorkspace({ workspace }: Pick<CallContext, 'workspace'>): void {
  if (workspace !== DEMO_WORKSPACE_ID)
    throw new Refusal(
      'INVALID_INPUT',
      'The demo runs only in the workspace demo.',
      'Run `covenant demo`. Over HTTP, send the header `x-covenant-workspace: demo`.',
    );
}

/** Tables whose rows stay when a demo ends: the journal, and the workspace, without which the journal cannot be read. */
const KEPT = new Set(['events', 'journal_heads', 'journal_anchors', 'workspaces']);

/** Deletes every row of the workspace in all tables, including tables added in the future. */
async function removeRows(db: Db, workspace: string): Promise<number> {
  const tables = await db.introspection.getTables();
  // Only the schema with our journal is considered, because the database may contain tables of other programs in other schemas.
  const ours = new Set(tables.filter(({ name }) => name === 'journal_heads').map(({ schema }) => schema));
  const owned = tables.filter(
    ({ name, schema, isView, columns }) => !KEPT.has(name) && !isView && ours.has(schema) && columns.some((column) => column.name === 'workspace_id'),
  );
  let removed = 0;
  for (const { name } of owned) {
    const { numAffectedRows } = await sql`delete from ${sql.table(name)} where workspace_id = ${workspace}`.execute(db);
    removed += Number(numAffectedRows ?? 0);
  }
  return removed;
}

/** Derives the state from the last demo event of the journal. */
async function demoState(db: Db, workspace: string): Promise<DemoState> {
  const last = await eventsAbout(db, workspace, [SUBJECT]).select('kind').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return (last?.kind.replace('demo.', '') as DemoState | undefined) ?? 'none';
}

const hasPeople = (db: Db, workspace: string) => hasRow(db, 'developers', { workspace_id: workspace });
