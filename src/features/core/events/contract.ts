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

/** Which events are meant: those that fit all that is said. */
const eventFilter = {
  category: z.enum(EVENT_CATEGORIES).optional(),
  kind: z.string().trim().min(1).max(200).optional().describe('Kinds that begin so, whatever their case.'),
  actor: z.string().trim().min(1).max(200).optional().describe('Who: codex@mira, mira for all of hers, an instance, or as the journal has it.'),
  subject: z.string().trim().min(1).max(300).optional().describe('On what, the whole of it: an id, or tool:clock.'),
  outcome: z.string().trim().min(1).max(60).optional().describe('How it ended: ok, warning, blocked, denied, error, passed.'),
  session: z.string().trim().min(1).max(200).optional().describe('The agent session that it is linked to.'),
  text: z.string().trim().min(1).max(200).optional().describe('Anywhere in the kind, subject, session or payload, whatever its case.'),
};
const eventFilterShape = z.strictObject(eventFilter);
export type EventFilter = z.output<typeof eventFilterShape>;

const chainPoint = z.strictObject({ seq: z.int(), hash: z.string() });
const anchor = chainPoint.describe('What the first event is chained to: the last one that was pruned; 0 and 64 zeros where none was.');

/** The one behind it must be a number too. */
const seqBefore = z
  .int()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER - 1);

export const listEvents = contract({
  ...MEMBER_READ,
  name: 'events.list',
  title: 'Read the journal',
  description:
    'A page of events in order: those after a number, those before one, or the latest. Where a filter leaves few, only so many events are looked at; looked says which, and reading goes on from its end.',
  input: z
    .strictObject({
      after: seqBefore.optional().describe('Events with a higher seq than this.'),
      before: z.int().min(1).optional().describe('The last events with a lower seq than this.'),
      latest: z.int().min(1).max(1_000).optional().describe('The last so many instead.'),
      limit: z.int().min(1).max(1_000).optional().describe('At most so many after or before it; 200 where it is not said.'),
      ...eventFilter,
    })
    .refine(({ after, before, limit, latest }) => latest === undefined || (after === undefined && before === undefined && limit === undefined), {
      error: 'stands alone: without after, before and limit',
      path: ['latest'],
    })
    .refine(({ after, before }) => after === undefined || before === undefined, { error: 'stands alone: without after', path: ['before'] }),
  output: z.strictObject({
    items: z.array(event),
    head: chainPoint,
    anchor,
    looked: z
      .strictObject({ from: z.int(), to: z.int() })
      .describe(
        'Of these events, both ends included, all that fit are here; from lies after to where there was nothing to look at. None lies before the anchor.',
      ),
  }),
});

const hash = z.string().regex(/^[0-9a-f]{64}$/, { error: 'expected a hash of 64 hexadecimal digits' });

export const verifyEvents = contract({
  ...MEMBER_READ,
  name: 'events.verify',
  title: 'Verify a part of the journal',
  description:
    'Checks events against the chain of hashes, so many at a time, and at the end against the anchors of this server. Verification goes on with verified_to as after and root as previous until it is done.',
  input: z
    .strictObject({
      after: seqBefore.optional().describe('The event to go on behind; the anchor where it is not said, or was pruned meanwhile.'),
      previous: hash.optional().describe('The hash of that event as it was verified.'),
      limit: z.int().min(1).max(10_000).optional().describe('At most so many events; 5,000 where it is not said.'),
    })
    .refine(({ after = 0, previous }) => after === 0 || previous !== undefined, { error: 'is needed with after', path: ['previous'] }),
  output: z.strictObject({
    verified_to: z.int(),
    root: z.string().describe('The hash of the last event that was verified.'),
    head: chainPoint,
    anchor,
    first_break: z.strictObject({ seq: z.int(), kind: z.string().nullable(), reason: z.string() }).nullable(),
    done: z.boolean().describe('The end of the journal or a break was reached.'),
  }),
});

export const eventRate = contract({
  ...MEMBER_READ,
  name: 'events.rate',
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
});

export const pruneJournal = contract({
  name: 'journal.prune',
  toolset: 'admin',
  access: 'server',
  title: 'Delete old events',
  description:
    'Verifies the journal up to the last event before a time, moves its anchor there and deletes what stands before the anchor. Does so much at a time: it is called again with the before it answered until the stage is done.',
  input: z
    .strictObject({
      before: z.int().min(1).optional().describe('Events older than this go, up to the first that is not.'),
      keep_days: z.int().min(1).max(36_500).optional().describe('The same in days back from now.'),
      dry_run: z.boolean().optional().describe('Verify and count; nothing is deleted.'),
    })
    .refine(({ before, keep_days }) => (before === undefined) !== (keep_days === undefined), { error: 'give either before or keep_days', path: ['before'] }),
  output: z.strictObject({
    stage: z.enum(['verifying', 'removing', 'done']),
    before: z.int(),
    anchor,
    verified_to: z.int(),
    pruned: z.int().describe('Events that this call has cut off, or would have.'),
    remaining: z.int().describe('Events before the anchor that are still to be removed.'),
  }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const anchorJournal = contract({
  name: 'journal.anchor',
  toolset: 'admin',
  access: 'server',
  title: 'Anchor the journal',
  description: "Signs the number and hash of the journal's last event, and appends them to the server's file of anchors.",
  input: z.strictObject({}),
  output: z.strictObject({
    seq: z.int(),
    root: z.string(),
    time: z.int(),
    path: z.string().describe("The file on the server's machine."),
    public_key: z.string().describe('Ed25519, SPKI in base64.'),
    anchor: z.record(z.string(), z.unknown()).describe('As it was written.'),
  }),
});

export const rotateAnchorKey = contract({
  name: 'journal.rotate_key',
  toolset: 'admin',
  access: 'server',
  title: 'Rotate the anchors’ key',
  description: 'Makes a new key for anchors, introduced by the old one, whose private part is deleted. Anchors of the old key still verify.',
  input: z.strictObject({}),
  output: z.strictObject({ key: z.string(), previous: z.string() }),
});
