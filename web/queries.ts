import { type UseMutationResult, type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query';
import { type ActionInput, type ActionName, type ActionResult, call } from './api.ts';
import { readNow } from './query-client.ts';

interface Reading {
  /** For data that changes without an event. */
  pollMs?: number;
  /** False: it is not read. */
  enabled?: boolean;
  /** Not read again after events, because no event reports its changes and reading it is expensive. */
  ignoreEvents?: boolean;
}

/** Reads by an action that changes nothing. The old data stays while it is read again. */
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

/** Changes something, then reads everything that is shown again. The answer is not cached: it may contain a secret. */
export function useAct<N extends ActionName>(name: N): UseMutationResult<ActionResult<N>, Error, ActionInput<N>> {
  return useMutation({
    mutationFn: (input: ActionInput<N>) => call(name, input),
    onSuccess: readNow,
    gcTime: 0,
  });
}
