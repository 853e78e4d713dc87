import { z } from 'zod';
import { contract, READ } from '../../../kernel/contract.ts';
import { KINDS } from './places.ts';

export const find = contract({
  name: 'lookup.find',
  toolset: 'admin',
  access: 'member',
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
  annotations: READ,
});
