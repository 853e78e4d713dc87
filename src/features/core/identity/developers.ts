import type { WriteContext } from '../../../kernel/call.ts';
import { workspaceName } from '../../../kernel/ids.ts';
import { notFound, Refusal } from '../../../kernel/reply.ts';
import { deleteRows, insertNewRow, insertRows, newId } from '../../../storage/rows.ts';
import type { DeveloperRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findDeveloper, firstDeveloper, liveWebTokens } from './store.ts';
import { endToken } from './tokens.ts';

export async function ensureWorkspace(tx: Tx, by: string): Promise<void> {
  const name = workspaceName(tx.workspace);
  if (await insertNewRow(tx.db, 'workspaces', { id: tx.workspace, name, created_at: tx.now })) {
    tx.append({ category: 'work', kind: 'workspace.created', actor: by, subject: tx.workspace });
  }
}

/**
 * Returns the developer with this name, and creates the developer at the first use of the name. The first developer of a
 * workspace becomes its admin, and later developers become members.
 */
export async function ensureDeveloper(tx: Tx, name: string, by: string): Promise<DeveloperRow> {
  const known = await findDeveloper(tx.db, tx.workspace, { name });
  if (known) return known;
  await ensureWorkspace(tx, by);
  const developer: DeveloperRow = {
    workspace_id: tx.workspace,
    id: newId('dev', tx.now),
    name,
    role: (await firstDeveloper(tx.db, tx.workspace)) ? 'member' : 'admin',
    visibility: 'team',
    created_at: tx.now,
  };
  await insertRows(tx.db, 'developers', developer);
  tx.append({ category: 'work', kind: 'developer.joined', actor: by, subject: developer.id, payload: { role: developer.role } });
  return developer;
}

/**
 * Allows or forbids a developer to run agents on the server's machine. Agents have the rights of the server's OS user, so only
 * the operator of the server may decide this.
 */
export async function setRunAgents(tx: Tx, developer: DeveloperRow, allowed: boolean, by: string): Promise<void> {
  const permission = { workspace_id: tx.workspace, developer_id: developer.id };
  const isNews = allowed
    ? await insertNewRow(tx.db, 'machine_permissions', { ...permission, given_at: tx.now, given_by: by })
    : (await deleteRows(tx.db, 'machine_permissions', permission)) > 0;
  if (isNews)
    tx.append({ category: 'audit', kind: allowed ? 'developer.run_agents_allowed' : 'developer.run_agents_withdrawn', actor: by, subject: developer.id });
}

/** Ends every dashboard session of a developer and voids their unused sign-in links. Returns the number of ended sessions. */
export async function signOutEverywhere(tx: Tx, developer: DeveloperRow, by: string): Promise<number> {
  const sessions = await liveWebTokens(tx.db, tx.workspace, developer.id, tx.now);
  for (const session of sessions) await endToken(tx, session, by);
  await deleteRows(tx.db, 'signin_links', { workspace_id: tx.workspace, developer_id: developer.id, used_at: null });
  tx.append({ category: 'audit', kind: 'developer.signed_out', actor: by, subject: developer.id, payload: { sessions: sessions.length } });
  return sessions.length;
}

/**
 * Returns the owner of an instance that the caller starts. This is the calling developer, or the first developer of the workspace
 * if the operator starts the instance.
 */
export const instanceOwner = async (tx: Tx, callerDeveloperId: string | null): Promise<string | null> =>
  callerDeveloperId ?? (await firstDeveloper(tx.db, tx.workspace))?.id ?? null;

export async function requireDeveloper(tx: Pick<Tx, 'db' | 'workspace'>, name: string): Promise<DeveloperRow> {
  const developer = await findDeveloper(tx.db, tx.workspace, { name });
  if (!developer) {
    throw notFound(
      'DEVELOPER_NOT_FOUND',
      `No developer in this workspace is named ${JSON.stringify(name)}.`,
      'Run `covenant developers list` for the names. `covenant tokens create --developer NAME` creates a developer.',
      'developer',
    );
  }
  return developer;
}

/** Returns the developer that a call is about: the calling developer, or the developer that an operator names. */
export async function selfOrNamedDeveloper(tx: Tx, named: string | undefined, { principal }: WriteContext): Promise<DeveloperRow> {
  if (named && named !== principal.developerName) {
    if (!principal.operator)
      throw new Refusal('NOT_YOURS', 'You can do this only for yourself.', 'Repeat the call without `developer`, or ask the operator to make it.', {
        field: 'developer',
      });
    return await requireDeveloper(tx, named);
  }
  const self = principal.developerId && (await findDeveloper(tx.db, tx.workspace, { id: principal.developerId }));
  if (!self)
    throw new Refusal(
      'INVALID_INPUT',
      '`developer` is required, because the operator is not a developer.',
      'Repeat the call with `developer` (command line: `--developer NAME`).',
      {
        field: 'developer',
      },
    );
  return self;
}
