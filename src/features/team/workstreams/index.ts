import type { Feature } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import type { Preflight } from '../overlap/index.ts';
import { findWorkstream } from './store.ts';
import { workstreamTools } from './tools.ts';

export { chooseWorkstream, closeEmptyContainer, requireOpenWorkstream } from './containers.ts';
export { OPEN, RUNNING, requireState, TASK_MACHINE } from './lifecycle.ts';
export { findWorkstream, titlesOf, workstreamsBy } from './store.ts';

export const workstreams = (preflight: Preflight): Feature => ({ name: 'workstreams', implementations: workstreamTools(preflight) });

export async function ownsWorkstream(db: Db, workspace: string, developerId: string, id: string): Promise<boolean> {
  return (await findWorkstream(db, workspace, id))?.developer_id === developerId;
}
