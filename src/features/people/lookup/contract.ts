import { z } from 'zod';
import { contract, MEMBER_READ } from '../../../kernel/contract.ts';

/** The kinds of items that can be found. */
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
  description:
    'Finds items by the end of their id, or by words in their title. Returns each item with its page on the dashboard. Titles are searched only in the newest items of each kind.',
  input: z.strictObject({
    text: z.string().trim().min(1).max(200).describe('An id, the end of one, an event number, or words of a title.'),
    limit: z.int().min(1).max(50).default(10),
  }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        kind: z.enum(KINDS),
        id: z.string(),
        title: z.string(),
        path: z.string().describe('Path of its page on the dashboard.'),
      }),
    ),
  }),
});
