import { z } from 'zod';
import { RECEIPTS } from './receipts.ts';

export const CLAIM_MODES = ['exclusive', 'shared'] as const;
export type ClaimMode = (typeof CLAIM_MODES)[number];

/** What agents and the dashboard see. Times are epoch milliseconds; developers go by name, a private one by `@private`. */

export const claimView = z.strictObject({
  claim_id: z.string(),
  developer: z.string(),
  agent_type: z.string().nullable(),
  /** Held by a developer's agent of the caller's: it may release it. */
  own: z.boolean(),
  repo: z.string(),
  paths: z.array(z.string()),
  symbols: z.array(z.string()),
  mode: z.enum(CLAIM_MODES),
  reason: z.string().nullable(),
  claimed_at: z.int(),
  expires_at: z.int(),
});
export type ClaimView = z.output<typeof claimView>;

export const conflictView = z.strictObject({
  ...claimView.shape,
  /** Those of its paths and symbols that meet what was asked for. */
  meets: z.strictObject({ paths: z.array(z.string()), symbols: z.array(z.string()) }),
  /** The modes in which the code cannot be claimed while this claim is live. */
  refuses: z.array(z.enum(CLAIM_MODES)),
});
export type ConflictView = z.output<typeof conflictView>;

export const askView = z.strictObject({
  ask_id: z.string(),
  from: z.string(),
  to: z.string(),
  to_agent_type: z.string().nullable(),
  message: z.string(),
  repo: z.string().nullable(),
  paths: z.array(z.string()),
  receipt: z.enum(RECEIPTS),
  sent_at: z.int(),
  delivered_at: z.int().nullable(),
  read_at: z.int().nullable(),
  answered_at: z.int().nullable(),
  due_at: z.int(),
  undelivered: z.boolean(),
  overdue: z.boolean(),
  answer: z.string().nullable(),
  answer_delivered_at: z.int().nullable(),
});
export type AskView = z.output<typeof askView>;

export const handoffView = z.strictObject({
  handoff_id: z.string(),
  from: z.string(),
  to: z.string(),
  to_agent_type: z.string().nullable(),
  message: z.string(),
  status: z.enum(['offered', 'accepted']),
  task_ids: z.array(z.string()),
  claim_ids: z.array(z.string()),
  repo: z.string().nullable(),
  branch: z.string().nullable(),
  /** For covibe_session get_context. */
  context_id: z.string().nullable(),
  offered_at: z.int(),
  accepted_at: z.int().nullable(),
});
export type HandoffView = z.output<typeof handoffView>;

export const announcementView = z.strictObject({
  announcement_id: z.string(),
  developer: z.string(),
  message: z.string(),
  repo: z.string().nullable(),
  paths: z.array(z.string()),
  announced_at: z.int(),
});
export type AnnouncementView = z.output<typeof announcementView>;

/** What waits for the calling agent, in short: `list` gives it in full. */
export const waitingView = z.strictObject({
  waiting: z.array(z.strictObject({ ask_id: z.string(), from: z.string(), message: z.string(), due_at: z.int() })),
  answers: z.array(z.strictObject({ ask_id: z.string(), from: z.string(), answer: z.string(), answered_at: z.int() })),
  handoffs: z.array(z.strictObject({ handoff_id: z.string(), from: z.string(), message: z.string(), context_id: z.string().nullable() })),
});
export type Waiting = z.output<typeof waitingView>;
