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
