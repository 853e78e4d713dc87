import { z } from 'zod';
import { contract, READ } from '../../../kernel/contract.ts';
import { branch, id, repo, repoPath, sessionId, text, title } from '../../../kernel/fields.ts';

const base = { name: 'covibe_session', toolset: 'team', title: 'Your session' } as const;

const HOURS = { least: 1, most: 168, usual: 24 };

const lines = z.array(text(500)).max(50);

export const contextView = z.strictObject({
  context_id: z.string(),
  developer: z.string(),
  session_id: z.string().nullable(),
  repo: z.string(),
  branch: z.string().nullable(),
  title: z.string(),
  summary: z.string(),
  files_touched: z.array(z.string()),
  next_actions: z.array(z.string()),
  blockers: z.array(z.string()),
  task_ids: z.array(z.string()),
  published_at: z.int(),
  expires_at: z.int(),
  /** In lists long texts and lists are cut; by context_id or developer the whole is given. */
  cut: z.boolean(),
});
export type ContextView = z.output<typeof contextView>;

export const publishContext = contract({
  ...base,
  operation: 'publish_context',
  description:
    'Leave what a teammate needs to take over: what you did, what is next, what blocks. It replaces your earlier one for the same repo and branch. Never prompts, transcripts, diffs or file contents.',
  input: z.strictObject({
    title,
    summary: text(4_000).describe('Where the work stands.'),
    repo,
    branch: branch.optional(),
    files_touched: z.array(repoPath).max(200).optional(),
    next_actions: lines.optional(),
    blockers: lines.optional(),
    task_ids: z.array(id).max(50).optional(),
    session_id: sessionId,
    ttl_hours: z.int().min(HOURS.least).max(HOURS.most).default(HOURS.usual),
  }),
  output: z.strictObject({ context_id: z.string(), expires_at: z.int(), superseded: z.array(z.string()) }),
});

export const getContext = contract({
  ...base,
  operation: 'get_context',
  description:
    "A teammate's latest context by developer, or the one a handoff refers to by context_id; without either, a list of all active ones of the workspace. Read it before you take work over.",
  input: z.strictObject({
    developer: text(100).optional().describe("A teammate's handle, @handle or id."),
    context_id: id.optional(),
  }),
  output: z.strictObject({ context: contextView.nullable().optional(), contexts: z.array(contextView).optional() }),
  annotations: READ,
});

export const revokeContext = contract({
  ...base,
  operation: 'revoke_context',
  description: 'Withdraw a context that you published, by context_id.',
  input: z.strictObject({ context_id: id }),
  output: z.strictObject({ context_id: z.string(), revoked_at: z.int() }),
});
