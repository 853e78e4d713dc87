import { z } from 'zod';
import { contract, MEMBER_READ } from '../../../kernel/contract.ts';
import { EVENT_CATEGORIES } from '../../../storage/journal.ts';

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

/** Events that match all given fields. */
const eventFilter = {
  category: z.enum(EVENT_CATEGORIES).optional(),
  kind: z.string().trim().min(1).max(200).optional().describe('Prefix of the kind, case-insensitive.'),
  actor: z.string().trim().min(1).max(200).optional().describe('Actor: codex@mira, mira for all of her agents, an instance, or an actor as in the journal.'),
  subject: z.string().trim().min(1).max(300).optional().describe('Exact subject: an id, or tool:clock.'),
  outcome: z.string().trim().min(1).max(60).optional().describe('Outcome: ok, warning, blocked, denied, error, passed.'),
  session: z.string().trim().min(1).max(200).optional().describe('Linked agent session.'),
  text: z.string().trim().min(1).max(200).optional().describe('Text in the kind, subject, session or payload, case-insensitive.'),
};
const eventFilterShape = z.strictObject(eventFilter);
export type EventFilter = z.output<typeof eventFilterShape>;

const chainPoint = z.strictObject({ seq: z.int(), hash: z.string() });
const anchor = chainPoint.describe('The point that the first event is chained to: the last pruned event, or 0 and 64 zeros.');

/** The maximum is one less than the largest safe integer, so that the next number is exact, too. */
const seqBefore = z
  .int()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER - 1);

export const listEvents = contract({
  ...MEMBER_READ,
  name: 'events.list',
  title: 'Read the journal',
  description:
    'Read events in order: those after a number, before a number, or the latest. One call searches a limited range, which `looked` returns; continue from its end.',
  input: z
    .strictObject({
      after: seqBefore.optional().describe('Events with a higher seq.'),
      before: z.int().min(1).optional().describe('The last events with a lower seq.'),
      latest: z.int().min(1).max(1_000).optional().describe('The last N events instead.'),
      limit: z.int().min(1).max(1_000).optional().describe('Maximum number of events; default 200.'),
      ...eventFilter,
    })
    .refine(({ after, before, limit, latest }) => latest === undefined || (after === undefined && before === undefined && limit === undefined), {
      error: 'cannot be combined with `after`, `before` or `limit`',
      path: ['latest'],
    })
    .refine(({ after, before }) => after === undefined || before === undefined, { error: 'cannot be combined with `after`', path: ['before'] }),
  output: z.strictObject({
    items: z.array(event),
    head: chainPoint,
    anchor,
    looked: z
      .strictObject({ from: z.int(), to: z.int() })
      .describe(
        'The searched events, both ends included: `items` has all matches. If nothing was searched, `from` is greater than `to`. Starts after the anchor.',
      ),
  }),
});

const hash = z.string().regex(/^[0-9a-f]{64}$/, { error: 'expected a hash of 64 hexadecimal digits' });

export const verifyEvents = contract({
  ...MEMBER_READ,
  name: 'events.verify',
  title: 'Verify a part of the journal',
  description:
    'Check a limited number of events against the hash chain, and after the last one also the anchors of this server. Until `done`, call again with `verified_to` as `after` and `root` as `previous`.',
  input: z
    .strictObject({
      after: seqBefore.optional().describe('Continue after this event. Default, or if it was pruned: the anchor.'),
      previous: hash.optional().describe('The verified hash of that event.'),
      limit: z.int().min(1).max(10_000).optional().describe('Maximum number of events; default 5,000.'),
    })
    .refine(({ after = 0, previous }) => after === 0 || previous !== undefined, { error: 'is required with `after`', path: ['previous'] }),
  output: z.strictObject({
    verified_to: z.int(),
    root: z.string().describe('Hash of the last verified event.'),
    head: chainPoint,
    anchor,
    first_break: z.strictObject({ seq: z.int(), kind: z.string().nullable(), reason: z.string() }).nullable(),
    done: z.boolean().describe('True at the end of the journal or at a break.'),
  }),
});

export const eventRate = contract({
  ...MEMBER_READ,
  name: 'events.rate',
  title: 'Count events over time',
  description: 'Count the events of each category in even steps up to now.',
  input: z.strictObject({
    minutes: z
      .int()
      .min(1)
      .max(24 * 60)
      .optional()
      .describe('Period in minutes; default 60.'),
    step: z.int().min(1).max(60).optional().describe('Minutes per step; default 1.'),
  }),
  output: z.strictObject({
    times: z.array(z.int()).describe('Start of each step.'),
    counts: z.record(z.enum(EVENT_CATEGORIES), z.array(z.int())),
  }),
});

export const pruneJournal = contract({
  name: 'journal.prune',
  toolset: 'admin',
  access: 'server',
  title: 'Delete old events',
  description:
    'Verify the journal up to the last event before a time, move its anchor there and delete the events before the anchor. Each call does a part; call again with the returned `before` until `stage` is done.',
  input: z
    .strictObject({
      before: z.int().min(1).optional().describe('Delete events that are older than this time, up to the first newer event.'),
      keep_days: z.int().min(1).max(36_500).optional().describe('Instead of `before`: delete events that are older than this many days.'),
      dry_run: z.boolean().optional().describe('Verify and count without deleting.'),
    })
    .refine(({ before, keep_days }) => (before === undefined) !== (keep_days === undefined), { error: 'set either `before` or `keep_days`', path: ['before'] }),
  output: z.strictObject({
    stage: z.enum(['verifying', 'removing', 'done']),
    before: z.int(),
    anchor,
    verified_to: z.int(),
    pruned: z.int().describe('Events that this call pruned or, in a dry run, would prune.'),
    remaining: z.int().describe('Events before the anchor still to be removed.'),
  }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const anchorJournal = contract({
  name: 'journal.anchor',
  toolset: 'admin',
  access: 'server',
  title: 'Anchor the journal',
  description: "Sign the number and hash of the journal's last event and append them to the server's anchor file.",
  input: z.strictObject({}),
  output: z.strictObject({
    seq: z.int(),
    root: z.string(),
    time: z.int(),
    path: z.string().describe("The file on the server's machine."),
    public_key: z.string().describe('Ed25519, SPKI in base64.'),
    anchor: z.record(z.string(), z.unknown()).describe('The anchor as written.'),
  }),
});

export const rotateAnchorKey = contract({
  name: 'journal.rotate_key',
  toolset: 'admin',
  access: 'server',
  title: 'Rotate the anchor key',
  description: 'Create a new anchor key and sign it with the old key. The old private key is deleted; its anchors still verify.',
  input: z.strictObject({}),
  output: z.strictObject({ key: z.string(), previous: z.string() }),
});
