import { type UseMutationResult, type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query';
import { type ActionInput, type ActionName, type ActionResult, call } from './api.ts';
import { readNow } from './query-client.ts';

interface Reading {
  /** The polling interval, for data whose changes no event reports. */
  pollMs?: number;
  /** If false, the query does not run. */
  enabled?: boolean;
  /** If true, events do not reload the data. Use it for data that is slow to read and does not depend on events. */
  ignoreEvents?: boolean;
}

/** Reads data with a read-only action. While the data is loaded again, the old data stays visible. */
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

/** Runs an action and then loads all visible data again. The answer is not cached, because it may contain a secret. */
export function useAct<N extends ActionName>(name: N): UseMutationResult<ActionResult<N>, Error, ActionInput<N>> {
  return useMutation({
    mutationFn: (input: ActionInput<N>) => call(name, input),
    onSuccess: readNow,
    gcTime: 0,
  });
}
