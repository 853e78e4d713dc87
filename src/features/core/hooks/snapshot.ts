import type { WriteContext } from '../../../kernel/context.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findSession, MAX_FILES, storeSnapshot } from '../../team/sessions/index.ts';
import type { RunQuestion, SessionListeners } from './context.ts';

const MAX_FOLDER = 500;

/** The state of the working tree, where the client tells it and there is a session to report it: as the agent itself would. */
export async function keepSnapshot(
  tx: Tx,
  ctx: WriteContext,
  { repo, branch, dirty_files, unpushed_files }: RunQuestion,
  { session_id, folder, repo: known }: ClientRunRow,
  { snapshot: listeners = [] }: SessionListeners,
): Promise<void> {
  if (session_id === null || (dirty_files ?? unpushed_files) === undefined || (repo ?? known) === null) return;
  const session = await findSession(tx.db, tx.workspace, session_id);
  if (session?.ended_at !== null) return;
  const as = { ...ctx, session: session_id };
  const report = await storeSnapshot(tx, as, session, {
    session_id,
    repo: repo ?? known ?? undefined,
    branch,
    worktree: folder?.slice(0, MAX_FOLDER),
    dirty_files: dirty_files?.slice(0, MAX_FILES),
    unpushed_files: unpushed_files?.slice(0, MAX_FILES),
  });
  for (const listener of listeners) await listener(tx, as, report);
}
