import { cpSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { copyDatabase } from '../../../storage/copy-database.ts';
import type { Db } from '../../../storage/engine.ts';
import { firstSeqSince, readAnchor, readHead } from '../../../storage/journal.ts';
import { countRows, findRow, matching } from '../../../storage/rows.ts';
import { backupStore, serverStatus } from './contract.ts';

export interface ServerFacts {
  readonly version: string;
  readonly store: 'sqlite' | 'postgres';
  readonly schema: number;
  readonly startedAt: number;
  readonly databasePath: string;
  readonly anchorFolder: string;
  toolCount(workspace: string): number;
}

const DAY_MS = 24 * 3_600_000;

export function serverTools(facts: ServerFacts): Implementation[] {
  return [
    implement(serverStatus, {
      read: async (_input, { reader, workspace, clock }) => {
        const anchor = await readAnchor(reader, workspace);
        const head = (await readHead(reader, workspace)) ?? anchor;
        return ok({
          version: facts.version,
          store: facts.store,
          schema: facts.schema,
          started_at: facts.startedAt,
          workspace,
          developers: await countRows(reader, 'developers', { workspace_id: workspace }),
          tokens: await countRows(reader, 'tokens', { workspace_id: workspace }),
          tools: facts.toolCount(workspace),
          events: head.seq - anchor.seq,
          last_event_at: (await findRow(reader, 'events', { workspace_id: workspace }, { seq: 'desc' }))?.time ?? null,
          refused_24h: await refusalsSince(reader, workspace, clock.now() - DAY_MS),
        });
      },
    }),
    implement(backupStore, {
      run: async ({ path }) => {
        if (facts.store !== 'sqlite') {
          throw new Refusal(
            'UNSUPPORTED',
            'This server stores its data in PostgreSQL.',
            'Back up the database with `pg_dump`, or one workspace with `covenant export FILE`.',
          );
        }
        if (!isAbsolute(path)) throw new Refusal('INVALID_INPUT', '`path` must be absolute.', 'Repeat the call with an absolute `path`.', { field: 'path' });
        const anchors = `${path}.anchors`;
        for (const taken of [path, anchors])
          if (existsSync(taken)) throw new Refusal('FILE_EXISTS', `${taken} already exists.`, 'Repeat the call with another `path`.', { field: 'path' });
        // The anchors are copied first. If an anchor were newer than the copy of the database, it would refer to events that the
        // copy does not contain.
        copyAnchors(facts.anchorFolder, anchors);
        await copyDatabase(facts.databasePath, path).catch((error: unknown) => {
          rmSync(anchors, { recursive: true, force: true });
          throw error;
        });
        return ok({ path, bytes: statSync(path).size }, 'Backed up.');
      },
    }),
  ];
}

/** Copies the anchors and their key, so that a server restored from the backup continues to use the same key. */
function copyAnchors(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true, mode: 0o700 });
  cpSync(from, to, { recursive: true });
}

/** Counts denied checks and refused calls, which an operator should notice before users complain. */
async function refusalsSince(db: Db, workspace: string, since: number): Promise<number> {
  const row = await matching(db, 'events', { workspace_id: workspace, category: 'usage', seq: { '>=': await firstSeqSince(db, workspace, since) } })
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where((eb) =>
      eb.or([eb('payload', 'like', '%"outcome":"denied"%'), eb('payload', 'like', '%"outcome":"error"%'), eb('payload', 'like', '%"outcome":"blocked"%')]),
    )
    .executeTakeFirstOrThrow();
  return Number(row.n);
}
