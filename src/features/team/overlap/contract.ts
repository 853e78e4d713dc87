import { z } from 'zod';
import { contract, id, MEMBER_READ, sessionId, text } from '../../../kernel/contract.ts';

export const ITEM_KINDS = ['task', 'workstream', 'workflow_task'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

/** Work that is `planned`, `active` or `blocked` is open. Work in the other states is closed. */
export const ITEM_STATUSES = ['planned', 'active', 'blocked', 'completed', 'cancelled'] as const;
export type ItemStatus = (typeof ITEM_STATUSES)[number];

export type CheckKind = 'task' | 'workstream';

export type WarningLevel = 'warn' | 'escalated';
export type WarningStatus = 'open' | 'judged' | 'confirmed' | 'dismissed';

/** An agent's verdict on the candidates that a check escalated. The agent sends it when it starts the work. */
export const scopeVerdict = z.strictObject({
  verdict: z.enum(['distinct', 'duplicate']),
  candidates: z.array(z.strictObject({ id, same_scope: z.boolean(), reason: text(1_000) })).max(100),
});
export type ScopeVerdict = z.output<typeof scopeVerdict>;

export const answerFields = {
  check_id: id.optional().describe('From your latest check with the same title.'),
  scope_verdict: scopeVerdict
    .optional()
    .describe('Your verdict on every escalated candidate: {verdict: "distinct"|"duplicate", candidates: [{id, same_scope, reason}]}.'),
  warning_id: id.optional().describe('Confirms a warning of your latest check; needs confirmation_reason. It never replaces a verdict.'),
  confirmation_reason: text(1_000).optional().describe('Why to start despite the duplicate or warning.'),
};

/** With these fields a person plans work although similar work was found. */
export const confirmFields = {
  confirm: z.boolean().optional().describe('Plan it despite the candidates.'),
  confirmation_reason: text(1_000).optional().describe('The reason, stored with the warning.'),
};

/** Existing work that is similar to the checked work. */
export const match = z.strictObject({
  id: z.string(),
  type: z.enum(['task', 'workstream', 'workflow_task']),
  title: z.string(),
  scope: z.string().nullable(),
  owner: z.string(),
  same_developer: z.boolean(),
  status: z.enum(['planned', 'active', 'blocked', 'completed', 'cancelled']),
  repo: z.string().nullable(),
  task_type: z.string().nullable(),
  score: z.number(),
  reason: z.string(),
  level: z.enum(['warn', 'escalated']),
  file_overlap: z.array(z.string()),
  action_divergent: z.boolean(),
  component_differs: z.boolean().optional(),
});
export type OverlapMatch = z.output<typeof match>;

export const fileConflict = z.strictObject({
  source: z.enum(['task', 'snapshot', 'claim']),
  source_id: z.string(),
  owner: z.string(),
  same_developer: z.boolean(),
  files: z.array(z.string()),
  action: z.string().nullable(),
  title: z.string().nullable(),
  repo: z.string().nullable(),
});

export type FileSource = FileConflict['source'];
export type FileConflict = z.output<typeof fileConflict>;

/** Whether an embedding model took part in the comparison. */
export const engine = z.strictObject({
  embedder: z.enum(['off', 'ok', 'late', 'down']).describe('late or down: the model was not used.'),
});
export type EmbedderState = z.output<typeof engine>['embedder'];

/** The fields that every check returns. */
export const checkOutput = {
  check_id: z.string(),
  warning_id: z.string().nullable(),
  requires_verdict: z.boolean(),
  candidates: z.array(match),
  matches: z.array(match),
  file_conflicts: z.array(fileConflict),
  engine,
};

export const dismissWarning = contract({
  name: 'covibe_warning',
  operation: 'dismiss',
  toolset: 'team',
  title: 'Overlap warnings',
  about: 'Dismisses an overlap warning of your own check.',
  description: 'Dismisses a stored overlap warning, with a reason. A check that requires a verdict still requires it.',
  input: z.strictObject({ warning_id: id, reason: text(1_000), session_id: sessionId }),
  output: z.strictObject({ warning_id: z.string(), status: z.literal('dismissed') }),
  annotations: { idempotentHint: true },
});

const figure = z.number().min(-1).max(100);

/** The settings that a workspace can change. docs/overlap.md explains each of them. The last three settings depend on the embedding model. */
const ownFigures = {
  warn: figure.min(0).optional().describe('Minimum score of a stored warning.'),
  escalate: figure.min(0).optional().describe('Minimum score that requires a verdict; at least warn.'),
  text_weight: figure.min(0).optional(),
  file_weight: figure.min(0).optional(),
  meaning_weight: figure.min(0).optional(),
  meaning_evidence: figure.max(1).optional().describe('Similarity of two vectors that counts as evidence.'),
  meaning_floor: figure.max(1).optional().describe('Similarity of two vectors that scores zero.'),
};

export const ownSettings = z.strictObject(ownFigures);
export type OwnSettings = z.output<typeof ownSettings>;
const overlapSettings = ownSettings.required();

export const configureOverlap = contract({
  name: 'overlap.configure',
  toolset: 'admin',
  title: 'Set overlap thresholds',
  description: "Sets the workspace's own thresholds and weights. Without input, returns the current ones.",
  input: z
    .strictObject({ ...ownFigures, reset: z.literal(true).optional().describe('Restores the defaults.') })
    .refine(({ reset, ...own }) => !reset || Object.values(own).every((value) => value === undefined), {
      error: 'cannot be combined with other fields',
      path: ['reset'],
    }),
  output: z.strictObject({ settings: overlapSettings, defaults: overlapSettings, own: z.boolean() }),
  annotations: { idempotentHint: true },
});

export const storedWarning = z.strictObject({
  warning_id: z.string(),
  kind: z.enum(['task', 'workstream']),
  title: z.string(),
  developer: z.string(),
  subject_id: z.string().nullable(),
  level: z.enum(['warn', 'escalated']),
  status: z.enum(['open', 'judged', 'confirmed', 'dismissed']),
  reason: z.string().nullable().describe('Reason given when it was resolved.'),
  matches: z.array(match),
  created_at: z.int(),
  resolved_at: z.int().nullable(),
});

const overlapView = z.strictObject({
  ...storedWarning.shape,
  mine: z.boolean(),
  verdict: z.enum(['distinct', 'duplicate']).nullable(),
  judgements: z.array(z.strictObject({ id: z.string(), same_scope: z.boolean(), reason: z.string() })),
  judged_by: z.string().nullable().describe('Who resolved it. Null while it is open, and if it was resolved automatically.'),
});

const thresholds = overlapSettings.pick({ warn: true, escalate: true });

export const listOverlaps = contract({
  ...MEMBER_READ,
  name: 'overlap.list',
  title: 'List overlaps',
  description: 'Stored overlap warnings, newest first, a page at a time, each with its matches and how it was resolved.',
  input: z.strictObject({
    open: z.boolean().optional().describe('Only unresolved ones.'),
    level: z.enum(['warn', 'escalated']).optional(),
    subject_id: id.optional().describe('Only warnings about this task or workstream.'),
    repository: text(300).optional().describe('Repository name. Omits warnings about tasks known to be in another repository.'),
    before: id.optional().describe('Last warning of the previous page.'),
    limit: z.int().min(1).max(200).optional(),
  }),
  output: z.strictObject({ items: z.array(overlapView), more: z.boolean(), settings: thresholds }),
});

export const showOverlap = contract({
  ...MEMBER_READ,
  name: 'overlap.show',
  title: 'An overlap',
  description: 'A stored overlap warning, with its matches and how it was resolved.',
  input: z.strictObject({ warning_id: id.describe('Id of the warning, or the end of it.') }),
  output: z.strictObject({ overlap: overlapView, settings: thresholds }),
});

/** A developer can dismiss their own warnings. An operator can dismiss any warning. */
export const dismissByHand = contract({
  name: 'overlap.dismiss',
  toolset: 'admin',
  access: 'member',
  title: 'Dismiss an overlap',
  description: 'Dismisses your own warning, or any as operator, with a reason. A check that requires a verdict still requires it.',
  input: z.strictObject({ warning_id: id.describe('Id of the warning, or the end of it.'), reason: text(1_000) }),
  output: dismissWarning.output,
  annotations: { idempotentHint: true },
});
