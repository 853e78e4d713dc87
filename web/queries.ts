import { type UseMutationResult, type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query';
import { type ActionInput, type ActionName, type ActionResult, call } from './api.ts';
import { readNow } from './query-client.ts';

interface Reading {
  /** For what changes by time alone, which no event tells. */
  everyMs?: number;
  /** Whether it is read at all. */
  enabled?: boolean;
  /** No event tells of it, and reading it costs: it is read again by time alone. */
  byTimeAlone?: boolean;
}

/** Reads by an action that changes nothing. Old data stays while it reads again. */
export function useRead<N extends ActionName>(
  name: N,
  input: ActionInput<N>,
  { everyMs, enabled = true, byTimeAlone = false }: Reading = {},
): UseQueryResult<ActionResult<N>> {
  return useQuery({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    refetchInterval: everyMs ?? false,
    enabled,
    staleTime: byTimeAlone ? 'static' : 0,
  });
}

/** Does something, after which everything shown is read again. The answer is not kept: it may hold a secret. */
export function useAct<N extends ActionName>(name: N): UseMutationResult<ActionResult<N>, Error, ActionInput<N>> {
  return useMutation({
    mutationFn: (input: ActionInput<N>) => call(name, input),
    onSuccess: readNow,
    gcTime: 0,
  });
}
