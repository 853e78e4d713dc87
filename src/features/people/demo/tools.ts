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

/** Of the journal's events on the demo. */
const SUBJECT = 'demo';

export interface DemoPorts {
  readonly home: string;
  /** Starts the demo's own external server, whose definition changes when there is a file at this path. */
  readonly attach: (name: string, changesWith: string) => void;
  readonly detach: (name: string, actor: string) => Promise<void>;
  /** All of the workspace, or all but those that people are signed in by. */
  readonly revokeTokens: (tx: Tx, by: string, of: { readonly web: boolean }) => Promise<number>;
}

export const demoTools = ({ home, attach, detach, revokeTokens }: DemoPorts): Implementation[] => [
  implement(demoBegin, {
    run: async (_, ctx) => {
      requireDemoWorkspace(ctx);
      await ctx.write(async (tx) => {
        await ensureWorkspace(tx, ctx.principal.actor);
        const state = await demoState(tx.db, tx.workspace);
        if (state === 'begun') throw new Refusal('DEMO_RUNNING', 'A demo is under way, or was cut short.', 'covenant demo --clean removes it.');
        if (state === 'kept') throw new Refusal('DEMO_KEPT', 'The last demo was kept for looking.', 'covenant demo --clean removes it.');
        // Its end would take away what they did.
        if (await hasPeople(tx.db, tx.workspace))
          throw new Refusal('WORKSPACE_TAKEN', 'Somebody works in the workspace demo.', 'Run the demo with another COVENANT_HOME.');
        record(tx, ctx, { category: 'audit', kind: 'demo.begun', subject: SUBJECT });
      });
      const folder = demoFolder(home);
      // Left by a demo that was cut short.
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
        // Another may have ended it meanwhile, and somebody begun to work here.
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

/** Why the journal is still needed: it alone says that there is a demo. */
export async function demoHold(db: Db, workspace: string): Promise<{ why: string; next: string } | null> {
  if (workspace !== DEMO_WORKSPACE_ID || !hasDemo(await demoState(db, workspace))) return null;
  return { why: 'A demo is there, of which only the journal tells.', next: 'covenant demo --clean removes it.' };
}

const hasDemo = (state: DemoState): boolean => state === 'begun' || state === 'kept';

/** A program that was just ended may still hold a file of it for a moment. */
const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });

/** It removes what it finds: never in a workspace where somebody works. */
function requireDemoWorkspace({ workspace }: Pick<CallContext, 'workspace'>): void {
  if (workspace !== DEMO_WORKSPACE_ID) throw new Refusal('INVALID_INPUT', 'A demo runs in the workspace demo alone.', 'Call it with --workspace demo.');
}

/** Kept when a demo ends: the journal, which proves what happened, and the workspace's name, without which it could not be read. */
const KEPT = new Set(['events', 'journal_heads', 'journal_anchors', 'workspaces']);

/** Deletes every row of the workspace in all tables, also in tables that are added later. */
async function removeRows(db: Db, workspace: string): Promise<number> {
  const tables = await db.introspection.getTables();
  // A database may have other programs' tables too, in schemas of their own.
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

/** From the journal's last event on the demo. */
async function demoState(db: Db, workspace: string): Promise<DemoState> {
  const last = await eventsAbout(db, workspace, [SUBJECT]).select('kind').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return (last?.kind.replace('demo.', '') as DemoState | undefined) ?? 'none';
}

/** Whether somebody is there besides a demo. */
const hasPeople = (db: Db, workspace: string) => hasRow(db, 'developers', { workspace_id: workspace });
