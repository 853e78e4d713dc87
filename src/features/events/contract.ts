import { z } from 'zod';
import { contract, READ } from '../../kernel/contract.ts';
import { EVENT_CATEGORIES } from '../../storage/tables.ts';

const event = z.strictObject({
  seq: z.int(),
  category: z.enum(EVENT_CATEGORIES),
  kind: z.string(),
  actor: z.string(),
  subject: z.string().nullable(),
  session: z.string().nullable(),
  payload: z.record(z.string(), z.unknown()),
  time: z.int(),
  hash: z.string(),
});

export const listEvents = contract({
  name: 'events.list',
  toolset: 'admin',
  access: 'member',
  title: 'Read the journal',
  description: 'A page of events in order: those after a number, or the latest.',
  input: z
    .strictObject({
      after: z.int().min(0).optional().describe('Events with a higher seq than this.'),
      latest: z.int().min(1).max(1_000).optional().describe('The last so many instead.'),
      limit: z.int().min(1).max(1_000).optional().describe('At most so many after it; 200 where it is not said.'),
    })
    .refine(({ after, limit, latest }) => latest === undefined || (after === undefined && limit === undefined), {
      error: 'stands alone: without after and limit',
      path: ['latest'],
    }),
  output: z.strictObject({
    items: z.array(event),
    head: z.strictObject({ seq: z.int(), hash: z.string() }),
  }),
  annotations: READ,
});

export const eventRate = contract({
  name: 'events.rate',
  toolset: 'admin',
  access: 'member',
  title: 'Count the journal by time',
  description: 'How many events there were of each category, in even steps up to now.',
  input: z.strictObject({
    minutes: z
      .int()
      .min(1)
      .max(24 * 60)
      .optional()
      .describe('How far back; 60 where it is not said.'),
    step: z.int().min(1).max(60).optional().describe('Minutes in each step; 1 where it is not said.'),
  }),
  output: z.strictObject({
    times: z.array(z.int()).describe('When each step begins.'),
    counts: z.record(z.enum(EVENT_CATEGORIES), z.array(z.int())),
  }),
  annotations: READ,
});
