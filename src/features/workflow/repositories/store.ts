import { sql } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import type { RepositoryRow } from '../../../storage/schema-rows.ts';

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
