import type { Principal } from '../../kernel/context.ts';
import type { Db } from '../../storage/engine.ts';
import { requireHere, requireInstance } from './require.ts';
import type { InstanceRow } from './tables.ts';
import { isPrivate } from './tools.ts';
import { instanceViewer } from './views.ts';

/** An instance whose terminal this person may look at from here. */
export async function requireWatchable(db: Db, viewer: Principal, id: string, machine: string): Promise<InstanceRow> {
  const row = await requireInstance(db, viewer.workspace, id);
  requireHere(row, machine);
  if ((await instanceViewer(db, viewer, [])).isHidden(row)) throw isPrivate(row);
  return row;
}
