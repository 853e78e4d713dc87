import type { LookupKind } from './contract.ts';

/** The path of the dashboard page for each kind of item. `within`: the id of the item that contains this item. */
export const PLACES: Record<LookupKind, (id: string, within: string) => string> = {
  task: (id) => `/tasks?task=${id}`,
  workstream: (id) => `/tasks?workstream=${id}`,
  overlap: (id) => `/tasks/overlaps?warning=${id}`,
  claim: (id) => `/tasks/claims?claim=${id}`,
  workflow: (id) => `/workflows/${id}`,
  'workflow task': (id, workflow) => `/workflows/${workflow}?task=${id}`,
  instance: (id) => `/reviews/${id}`,
  cycle: (id) => `/cycles/${id}`,
  message: (id) => `/messages?message=${id}`,
  ask: (id) => `/messages?message=${id}`,
  handoff: (id) => `/messages?message=${id}`,
  approval: (id) => `/?approval=${id}`,
  grant: (id) => `/tools/grants?grant=${id}`,
  token: (id) => `/settings/tokens?token=${id}`,
  event: (seq) => `/activity?event=${seq}`,
};
