import { type UseMutationResult, type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query';
import { type ActionInput, type ActionName, type ActionResult, call } from './api.ts';
import { readNow } from './query-client.ts';

interface Reading {
  /** Polling interval, for data that changes without an event. */
  pollMs?: number;
  /** If false, the query does not run. */
  enabled?: boolean;
  /** If true, events do not trigger a reload. For data that is expensive to read and that events do not concern. */
  ignoreEvents?: boolean;
}

/** Reads data with a read-only action. The old data stays visible during a reload. */
export function useRead<N extends ActionName>(
  name: N,
  input: ActionInput<N>,
  { pollMs, enabled = true, ignoreEvents = false }: Reading = {},
): UseQueryResult<ActionResult<N>> {
  return useQuery({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    refetchInterval: pollMs ?? false,
    enabled,
    staleTime: ignoreEvents ? 'static' : 0,
  });
}

/** Runs an action, then reloads all visible data. The answer is not cached, because it may contain a secret. */
export function useAct<N extends ActionName>(name: N): UseMutationResult<ActionResult<N>, Error, ActionInput<N>> {
  return useMutation({
    mutationFn: (input: ActionInput<N>) => call(name, input),
    onSuccess: readNow,
    gcTime: 0,
  });
}
