import type { Principal } from '../../../kernel/context.ts';
import { mayBeSameRepo } from '../../../kernel/repo.ts';
import { chunks } from '../../../storage/chunks.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, deleteRows, insertRows } from '../../../storage/rows.ts';
import type { FileMarkRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { namesFor, PRIVATE } from '../../core/identity/index.ts';
import type { FileSource } from './contract.ts';

/** Where a list of files comes from, and how long it may be believed. */
export interface FileHolder {
  readonly source: FileSource;
  readonly sourceId: string;
  readonly developerId: string;
  readonly repo: string | null;
  readonly action: string | null;
  readonly label: string | null;
  /** Null: until it is taken back. */
  readonly expiresAt: number | null;
}

export interface FileConflict {
  source: FileSource;
  source_id: string;
  owner: string;
  same_developer: boolean;
  files: string[];
  action: string | null;
  title: string | null;
  repo: string | null;
}

/** Rows of one insert stay far below the number of parameters that either engine takes. */
const CHUNK = 50;

/** These files, and no others, are now in the holder's hands. */
export async function markFiles(tx: Tx, holder: FileHolder, files: readonly string[]): Promise<void> {
  await unmarkFiles(tx, holder.source, holder.sourceId);
  const rows = [...new Set(files)].map(
    (path): FileMarkRow => ({
      workspace_id: tx.workspace,
      path,
      source: holder.source,
      source_id: holder.sourceId,
      developer_id: holder.developerId,
      repo: holder.repo,
      action: holder.action,
      label: holder.label,
      marked_at: tx.now,
      expires_at: holder.expiresAt,
    }),
  );
  await insertRows(tx.db, 'file_marks', rows);
}

/** The same files stay in the same hands for longer. */
export const keepMarked = (tx: Tx, source: FileSource, sourceIds: readonly string[], expiresAt: number): Promise<void> =>
  changeRows(tx.db, 'file_marks', { workspace_id: tx.workspace, source, source_id: sourceIds }, { expires_at: expiresAt });

export const unmarkFiles = (tx: Tx, source: FileSource, sourceId: string): Promise<void> =>
  deleteRows(tx.db, 'file_marks', { workspace_id: tx.workspace, source, source_id: sourceId });

export interface FileQuestion {
  readonly files: readonly string[];
  /** Null: unknown, and then any repository may be meant. */
  readonly repo: string | null;
  readonly viewer: Principal;
  readonly now: number;
  /** Sources that are the asker's own work in question. */
  readonly except?: readonly string[];
}

const MAX_CONFLICTS = 50;

/** Who else has these files in hand. It informs; it never decides. */
export async function fileConflicts(db: Db, workspace: string, question: FileQuestion): Promise<FileConflict[]> {
  if (question.files.length === 0) return [];
  const rows: FileMarkRow[] = [];
  for (const some of chunks(question.files, CHUNK)) {
    rows.push(
      ...(await db
        .selectFrom('file_marks')
        .selectAll()
        .where('workspace_id', '=', workspace)
        .where('path', 'in', some)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', question.now)]))
        .orderBy('marked_at', 'desc')
        .limit(1_000)
        .execute()),
    );
  }
  const relevant = rows.filter((row) => !question.except?.includes(row.source_id) && sameRepo(row.repo, question.repo));
  const name = await namesFor(db, workspace, question.viewer);
  return [...Map.groupBy(relevant, (row) => `${row.source} ${row.source_id}`).values()].slice(0, MAX_CONFLICTS).map((marks) => {
    const [first] = marks as [FileMarkRow];
    return {
      source: first.source,
      source_id: first.source_id,
      owner: name(first.developer_id),
      same_developer: first.developer_id === question.viewer.developerId,
      files: marks.map(({ path }) => path).sort(),
      action: first.action,
      // Of a working tree it is the branch, which often has its owner's name in it.
      title: first.source === 'snapshot' && name(first.developer_id) === PRIVATE ? null : first.label,
      repo: first.repo,
    };
  });
}

const sameRepo = (a: string | null, b: string | null): boolean => a === null || b === null || mayBeSameRepo(a, b);
