import { z } from 'zod';
import { contract, MEMBER_READ } from '../../../kernel/contract.ts';

/** The kinds of things that can be found. */
export const KINDS = [
  'task',
  'workstream',
  'overlap',
  'claim',
  'workflow',
  'workflow task',
  'instance',
  'cycle',
  'message',
  'ask',
  'handoff',
  'approval',
  'grant',
  'token',
  'event',
] as const;
export type LookupKind = (typeof KINDS)[number];

/** `within`: what it is part of. */
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

export const find = contract({
  ...MEMBER_READ,
  name: 'lookup.find',
  title: 'Find something',
  description: 'What has an id that ends so, or, among the newest of each kind, a title with these words in it; each with its page on the dashboard.',
  input: z.strictObject({
    text: z.string().trim().min(1).max(200).describe('An id, the end of one, the number of an event, or words of a title.'),
    limit: z.int().min(1).max(50).default(10),
  }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        kind: z.enum(KINDS),
        id: z.string(),
        title: z.string(),
        path: z.string().describe("Its page, from the dashboard's root."),
      }),
    ),
  }),
});
