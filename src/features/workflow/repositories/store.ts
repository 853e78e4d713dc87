import { sql } from 'kysely';
import { record, type WriteContext } from '../../../kernel/context.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Db } from '../../../storage/engine.ts';
import type { RepositoryRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';

export async function findRepository(db: Db, workspace: string, path: string): Promise<RepositoryRow | undefined> {
  return await db.selectFrom('repositories').selectAll().where('workspace_id', '=', workspace).where('path', '=', path).executeTakeFirst();
}

export async function insertRepository(db: Db, row: RepositoryRow): Promise<void> {
  await db.insertInto('repositories').values(row).execute();
}

export async function renameRepository(db: Db, workspace: string, id: string, name: string, now: number): Promise<void> {
  await db.updateTable('repositories').set({ name, updated_at: now }).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

export async function pageOfRepositories(db: Db, workspace: string, limit: number, offset: number): Promise<{ rows: RepositoryRow[]; total: number }> {
  const ofWorkspace = db.selectFrom('repositories').where('workspace_id', '=', workspace);
  const rows = await ofWorkspace.selectAll().orderBy('path').limit(limit).offset(offset).execute();
  const { total } = await ofWorkspace.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { rows, total: Number(total) };
}

/** By whatever name each kind of work has them. */
export async function repositoriesAtWork(db: Db, workspace: string): Promise<string[]> {
  const of = async (table: 'tasks' | 'workflows' | 'instances' | 'cycles', column: string) => {
    const known = sql.ref<string | null>(column);
    const { rows } = await sql<{ known: string }>`
      select distinct ${known} as known from ${sql.table(table)} where workspace_id = ${workspace} and ${known} is not null`.execute(db);
    return rows.map((row) => row.known);
  };
  return [
    ...(await of('tasks', 'repo')),
    ...(await of('workflows', 'repository_path')),
    ...(await of('instances', 'repository')),
    ...(await of('cycles', 'repository')),
  ];
}

/** The one at this path, which must be normalised; made where there is none. */
export async function ensureRepository(tx: Tx, ctx: WriteContext, path: string, name?: string): Promise<RepositoryRow> {
  const known = await findRepository(tx.db, tx.workspace, path);
  if (known && (name === undefined || name === known.name)) return known;
  if (known) {
    await renameRepository(tx.db, tx.workspace, known.id, name as string, tx.now);
    const renamed = { ...known, name: name as string, updated_at: tx.now };
    tell(tx, ctx, renamed);
    return renamed;
  }
  const row = {
    workspace_id: tx.workspace,
    id: newId('rp', tx.now),
    path,
    name: name ?? lastPart(path),
    created_at: tx.now,
    updated_at: tx.now,
  };
  await insertRepository(tx.db, row);
  tell(tx, ctx, row);
  return row;
}

/** Of either kind of path; that of a root is itself. */
const lastPart = (path: string): string =>
  path
    .split(/[\\/]/)
    .filter((part) => part !== '')
    .at(-1) ?? path;

const tell = (tx: Tx, ctx: WriteContext, { id, path, name }: RepositoryRow): void => {
  record(tx, ctx, { category: 'work', kind: 'repository.registered', subject: id, payload: { path: excerpt(path, 400), name: excerpt(name, 200) } });
};
