import { type UseMutationResult, type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query';
import { type ActionInput, type ActionName, type ActionResult, call } from './api.ts';
import { readNow } from './query-client.ts';

interface Reading {
  /** Polling interval, for data that changes without an event. */
  pollMs?: number;
  /** False: the query does not run. */
  enabled?: boolean;
  /** Events do not trigger a reload, because they do not report this data and it is expensive to read. */
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
