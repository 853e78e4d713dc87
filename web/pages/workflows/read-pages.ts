import { type InfiniteData, type UseInfiniteQueryResult, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ActionResult, call } from '../../api.ts';
import type { ListSearch } from '../../search.ts';
import { statusesOf, type WorkflowState } from './status.ts';

const WORKFLOWS = 50;
const TASKS = 200;

interface Page {
  readonly items: readonly unknown[];
  readonly total: number;
}

/** How many are there already; nothing where that is all. */
const further = (_: Page, pages: readonly Page[]): number | undefined => {
  const held = pages.reduce((sum, { items }) => sum + items.length, 0);
  return held < (pages.at(-1)?.total ?? 0) ? held : undefined;
};

export function useWorkflows(
  status: WorkflowState | undefined,
  repository: string | undefined,
): UseInfiniteQueryResult<InfiniteData<ActionResult<'workflows.list'>>> {
  const filter = { ...(status && { status: [status] }), ...(repository !== undefined && { repository }) };
  return useInfiniteQuery({
    queryKey: ['workflows.list', 'pages', filter],
    queryFn: ({ pageParam: offset, signal }) => call('workflows.list', { ...filter, limit: WORKFLOWS, offset }, signal),
    initialPageParam: 0,
    getNextPageParam: further,
  });
}

export function useWorkflowTasks(workflow_id: string, { status, text }: ListSearch): UseInfiniteQueryResult<InfiniteData<ActionResult<'workflows.tasks'>>> {
  const filter = { workflow_id, ...(status && { status: statusesOf(status) }), ...(text?.trim() && { text: text.trim() }) };
  return useInfiniteQuery({
    queryKey: ['workflows.tasks', 'pages', filter],
    queryFn: ({ pageParam: offset, signal }) => call('workflows.tasks', { ...filter, limit: TASKS, offset }, signal),
    initialPageParam: 0,
    getNextPageParam: further,
    placeholderData: (before) => before,
  });
}

export function useCheckpoints(task_id: string): UseInfiniteQueryResult<InfiniteData<ActionResult<'workflows.checkpoints'>>> {
  return useInfiniteQuery({
    queryKey: ['workflows.checkpoints', 'pages', task_id],
    queryFn: ({ pageParam: before, signal }) => call('workflows.checkpoints', { task_id, ...(before && { before }) }, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ items, more }) => (more ? items.at(-1)?.sequence : undefined),
  });
}

/** The picture stays while a group of it is opened. */
export function useGraph(workflow_id: string, turned: string[]): UseQueryResult<ActionResult<'workflows.graph'>> {
  const input = { workflow_id, turned };
  return useQuery({
    queryKey: ['workflows.graph', input],
    queryFn: ({ signal }) => call('workflows.graph', input, signal),
    placeholderData: (before) => (before?.workflow_id === workflow_id ? before : undefined),
  });
}
