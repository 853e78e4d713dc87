import { sql } from 'kysely';
import { record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { ok } from '../../../kernel/reply.ts';
import { repositoryName } from '../../../kernel/repo.ts';
import { type Feature, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, countRows, findRow, findRows, insertRows, newId } from '../../../storage/rows.ts';
import type { RepositoryRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { getRepository, listRepositories, type RepositoryView, registerRepository, repositoriesAtWork } from './contract.ts';

const view = ({ workspace_id: _, ...rest }: RepositoryRow): RepositoryView => rest;

export const repositories: Feature = {
  name: 'repositories',
  implementations: [
    implement(registerRepository, {
      write: async (tx, { path, name }, ctx) => {
        const row = await ensureRepository(tx, ctx, path, name);
        return ok({ id: row.id, path: row.path, name: row.name });
      },
    }),
    implement(listRepositories, {
      read: async ({ limit, offset }, { reader, workspace: workspace_id }) => {
        const rows = await findRows(reader, 'repositories', { workspace_id }, { order: { path: 'asc' }, limit, offset });
        return ok({ repositories: rows.map(view), total: await countRows(reader, 'repositories', { workspace_id }) });
      },
    }),
    implement(getRepository, {
      read: async ({ path }, { reader, workspace: workspace_id }) => {
        const row = await findRow(reader, 'repositories', { workspace_id, path });
        return ok(row ? { ...view(row), repository: view(row) } : { repository: null });
      },
    }),
    implement(repositoriesAtWork, {
      read: async (_input, { reader, workspace }) => {
        const names = new Set((await knownAtWork(reader, workspace)).map(repositoryName));
        return ok({ items: [...names].sort((a, b) => a.localeCompare(b)).map((name) => ({ name })) });
      },
    }),
  ],
};

/** Returns the names or paths of all repositories that appear in stored tasks, workflows, instances and cycles. */
async function knownAtWork(db: Db, workspace: string): Promise<string[]> {
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

/** Returns the repository at this path. Registers the repository first if it is missing. The path must be normalised. */
export async function ensureRepository(tx: Tx, ctx: WriteContext, path: string, name?: string): Promise<RepositoryRow> {
  const known = await findRow(tx.db, 'repositories', { workspace_id: tx.workspace, path });
  if (known && (name === undefined || name === known.name)) return known;
  const made = { workspace_id: tx.workspace, id: newId('rp', tx.now), path, created_at: tx.now };
  const row = { ...(known ?? made), name: name ?? lastPart(path), updated_at: tx.now };
  if (known) await changeRows(tx.db, 'repositories', { workspace_id: tx.workspace, id: known.id }, { name: row.name, updated_at: tx.now });
  else await insertRows(tx.db, 'repositories', row);
  record(tx, ctx, { category: 'work', kind: 'repository.registered', subject: row.id, payload: { path: excerpt(path, 400), name: excerpt(row.name, 200) } });
  return row;
}

/** Returns the last part of a POSIX or Windows path. If the path is a root, returns the root itself. */
const lastPart = (path: string): string =>
  path
    .split(/[\\/]/)
    .filter((part) => part !== '')
    .at(-1) ?? path;
