import { agentIdOf, agentTypeOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/context.ts';
import { readJson, view } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import type { TaskRow } from '../../../storage/schema-rows.ts';
import { namesFor, PRIVATE } from '../../core/identity/index.ts';
import { overlapsOf } from '../overlap/index.ts';
import { titlesOf } from '../workstreams/index.ts';
import type { ShownTask, TaskView } from './contract.ts';
import { taskView } from './contract.ts';

export const filesOf = (row: TaskRow): string[] => readJson(taskView.shape.target_files, row.target_files);

/** Tasks as `viewer` may see them: of a private developer nothing tells who they are. */
export async function viewTasks(db: Db, workspace: string, viewer: Principal): Promise<(row: TaskRow) => TaskView> {
  const name = await namesFor(db, workspace, viewer);
  return (row) =>
    view(taskView, row, {
      task_id: row.id,
      owner: name(row.developer_id),
      mine: row.developer_id === viewer.developerId,
      // Which agent somebody uses may tell who they are.
      agent: name(row.developer_id) === PRIVATE ? null : agentTypeOf(row.actor),
    });
}

/** The same for people, who read what an id stands for. */
export async function showTasks(db: Db, workspace: string, viewer: Principal, rows: readonly TaskRow[]): Promise<ShownTask[]> {
  const show = await viewTasks(db, workspace, viewer);
  const name = await namesFor(db, workspace, viewer);
  const titles = await titlesOf(db, workspace, [...new Set(rows.flatMap(({ workstream_id }) => workstream_id ?? []))]);
  const overlaps = await overlapsOf(
    db,
    workspace,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    ...show(row),
    agent_id: name(row.developer_id) === PRIVATE ? null : agentIdOf(row.actor),
    workstream_title: titles.get(row.workstream_id ?? '') ?? null,
    overlaps: overlaps.get(row.id) ?? { all: 0, open: 0 },
  }));
}
