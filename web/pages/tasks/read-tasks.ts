import { type Arguments, call, type Result, type Task } from '../../api.ts';
import type { TaskSearch } from '../../search.ts';
import { type Pages, usePages } from './pages.ts';
import { statusesOf } from './status.ts';

type Before = NonNullable<Arguments<'tasks.list'>['before']>;

/** As it stands in the address. */
export const cursorText = ({ updated_at, task_id }: Before): string => `${updated_at}.${task_id}`;

function cursorIn(text: string | undefined): Before | undefined {
  const [, updated_at, task_id] = /^(\d{1,15})\.(\w+)$/.exec(text ?? '') ?? [];
  return updated_at && task_id ? { updated_at: Number(updated_at), task_id } : undefined;
}

const cursorOf = ({ updated_at, task_id }: Task): Before => ({ updated_at, task_id });

/** Last changed first. */
export function useTasks(
  { status: chosen, mine, owner, workstream, before: from }: TaskSearch,
  repository: string | undefined,
): Pages<Task, Result<'tasks.list'>> {
  const status = statusesOf(chosen);
  const filter = {
    ...(status && { status }),
    ...(mine && { mine }),
    ...(owner && { owner }),
    ...(workstream && { workstream_id: workstream }),
    ...(repository && { repository }),
  };
  return usePages({
    key: ['tasks.list', filter],
    read: (before, limit, signal) => call('tasks.list', { ...filter, limit, ...(before && { before }) }, signal),
    cursorOf,
    from: cursorIn(from),
  });
}
