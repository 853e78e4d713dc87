import { record, type WriteContext } from '../../../kernel/context.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { newId } from '../../../kernel/ids.ts';
import type { RepositoryRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findRepository, insertRepository, renameRepository } from './store.ts';

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
