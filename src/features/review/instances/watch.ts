import type { Principal } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import type { Db } from '../../../storage/engine.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import { requireHere, requireInstance } from './require.ts';
import { instanceViewer } from './views.ts';

/** An instance of which this person may see, from here, what its agent shows. */
export async function requireWatchable(db: Db, viewer: Principal, id: string, machine: string): Promise<InstanceRow> {
  const row = await requireInstance(db, viewer.workspace, id);
  // First: where it runs is private too.
  if ((await instanceViewer(db, viewer, [])).isHidden(row)) throw isPrivate(row);
  requireHere(row, machine);
  return row;
}

const isPrivate = ({ id }: InstanceRow): Refusal =>
  new Refusal('INSTANCE_PRIVATE', `${id} works for a developer who keeps their work to themselves.`, 'Ask them, or the operator of the server.', {
    field: 'instance_id',
  });
