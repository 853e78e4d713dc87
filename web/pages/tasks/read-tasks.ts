import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { type Arguments, call, type Result } from '../../api.ts';
import type { TaskSearch } from './search.ts';
import { statusesOf } from './status.ts';

const PAGE = 50;

type Page = Result<'tasks.list'>;
type Before = Arguments<'tasks.list'>['before'];

/** Last changed first, a page at a time; what is shown already is read again with each event. */
export function useTasks({ status, mine }: TaskSearch): UseInfiniteQueryResult<InfiniteData<Page>> {
  const filter = { status: statusesOf(status), ...(mine && { mine }) };
  return useInfiniteQuery({
    queryKey: ['tasks.list', 'pages', filter],
    queryFn: ({ pageParam: before, signal }) => call('tasks.list', { ...filter, limit: PAGE, ...(before && { before }) }, signal),
    initialPageParam: undefined as Before,
    getNextPageParam: nextPage,
  });
}

function nextPage({ items, more }: Page): Before {
  const last = items.at(-1);
  return more && last ? { updated_at: last.updated_at, task_id: last.task_id } : undefined;
}
