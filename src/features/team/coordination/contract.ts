import { z } from 'zod';
import { branch, contract, id, MEMBER_READ, READ, repo, sessionId, text } from '../../../kernel/contract.ts';
import { fileConflict } from '../overlap/contract.ts';
import { hasWildcard } from './globs.ts';

export const RECEIPTS = ['sent', 'delivered', 'read', 'answered'] as const;
export const CLAIM_MODES = ['exclusive', 'shared'] as const;
export type ClaimMode = (typeof CLAIM_MODES)[number];

/**
 * A claim as agents and the dashboard see it. Times are epoch milliseconds. Shows the name of the developer, or `@private` for a private developer.
 */

export const claimView = z.strictObject({
  claim_id: z.string(),
  developer: z.string(),
  agent_type: z.string().nullable(),
  /** True if an agent of the caller's own developer holds the claim. The caller may then release it. */
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
  /** The paths and symbols of this claim that overlap with the requested ones. */
  meets: z.strictObject({ paths: z.array(z.string()), symbols: z.array(z.string()) }),
  /** While this claim is live, nobody else can claim the code in these modes. */
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
  /** The id to pass to covibe_session `get_context`. */
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

/** Short forms of the asks, answers and handoffs that wait for the calling agent. `list` returns their full texts. */
export const waitingView = z.strictObject({
  waiting: z.array(z.strictObject({ ask_id: z.string(), from: z.string(), message: z.string(), due_at: z.int() })),
  answers: z.array(z.strictObject({ ask_id: z.string(), from: z.string(), answer: z.string(), answered_at: z.int() })),
  handoffs: z.array(z.strictObject({ handoff_id: z.string(), from: z.string(), message: z.string(), context_id: z.string().nullable() })),
});
export type Waiting = z.output<typeof waitingView>;

const MAX_DEPTH = 40;
const MAX_WILDCARDS = 10;
/** File systems allow no longer names. The limit bounds the time to compare two patterns, which happens inside the write transaction. */
const MAX_NAME = 255;
const MAX_WILD_NAME = 80;

const pattern = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine((path) => !/^[/\\~]|^[A-Za-z]:|\\|(^|\/)\.\.?(\/|$)|\/\//.test(path), {
    error: 'expected a path or pattern relative to the repository, with forward slashes and without "." or ".."',
  })
  .refine((path) => !/\p{Cc}/u.test(path), { error: 'expected a path without control characters' })
  .refine((path) => !/\{[^}]*,[^}]*\}/.test(path), { error: 'braces are not supported: write one pattern for each alternative' })
  .refine((path) => path.split('/').length <= MAX_DEPTH && (path.match(/\*+|\?/g)?.length ?? 0) <= MAX_WILDCARDS, {
    error: `expected at most ${MAX_DEPTH} segments and ${MAX_WILDCARDS} wildcards`,
  })
  .refine((path) => path.split('/').every((name) => name.length <= (hasWildcard(name) ? MAX_WILD_NAME : MAX_NAME)), {
    error: `expected names of at most ${MAX_NAME} characters, with wildcards of at most ${MAX_WILD_NAME}`,
  });

const paths = z
  .array(pattern)
  .max(50)
  .optional()
  .describe('Repository paths, or patterns with * and ? within a name and ** for any depth. A directory covers everything below it.');
const symbols = z
  .array(text(300))
  .max(50)
  .optional()
  .describe('Names in the code: "src/a.ts#parseDate", or "parseDate" for that name in any file. A claimed file covers its symbols.');
const mode = z.enum(CLAIM_MODES).optional().describe('exclusive (default): no other agent can claim it. shared: others can also claim it as shared.');
const message = text(4_000).describe('The text: up to 4,000 characters, in an announcement 2,000.');
const to = text(200).describe('A developer by name, @name or id, or only their agents of one type: "codex@mira".');
const dueInMinutes = z.int().min(1).max(10_080).optional().describe('When you need the answer: 60 minutes by default, at most a week.');
const ids = z.array(id).max(20).optional();

const base = {
  name: 'covibe_coordination',
  toolset: 'team',
  title: 'Coordination between agents',
  about:
    'Claims and messages between agents: claim paths before you edit them (blocked while another agent holds them), release them when done; check_conflicts; ask a teammate, reply; announce; hand work over.',
} as const;
const session = { session_id: sessionId };

export const MAX_ANNOUNCEMENT = 2_000;

export const announce = contract({
  ...base,
  operation: 'announce',
  description: 'Tells the team about something that affects their work now, such as a rename or a broken main branch.',
  input: z.strictObject({ message, repo: repo.optional(), paths, ...session }),
  output: z.strictObject({ announcement_id: z.string() }),
});

export const claim = contract({
  ...base,
  operation: 'claim',
  description:
    'Leases paths or symbols of a repository before you edit them. Blocked (CLAIM_CONFLICT) while another agent holds a conflicting claim: ' +
    'ask the holder, wait until it expires, or work elsewhere. Claiming the same again renews it, as do your heartbeats. Release it when done.',
  input: z.strictObject({
    repo: repo.optional(),
    paths,
    symbols,
    mode,
    ttl_minutes: z.int().min(1).max(1_440).optional().describe('Lifetime unless renewed: 60 minutes by default, at most a day.'),
    reason: text(500).optional().describe('What you are doing there, shown to agents it blocks.'),
    ...session,
  }),
  placed: 'repo',
  output: z.strictObject({ claim_id: z.string(), expires_at: z.int(), mode: z.enum(CLAIM_MODES), renewed: z.boolean() }),
  annotations: { idempotentHint: true },
});

export const release = contract({
  ...base,
  operation: 'release',
  essential: true,
  description: 'Releases your claim, so that others can claim the code.',
  input: z.strictObject({ claim_id: id, ...session }),
  output: z.strictObject({ claim_id: z.string() }),
  annotations: { idempotentHint: true },
});

export const ask = contract({
  ...base,
  operation: 'ask',
  description: 'Asks another developer or agent. They get the ask with their next heartbeat, list or team state; you get the answer the same way.',
  input: z.strictObject({ to, message, due_in_minutes: dueInMinutes, repo: repo.optional(), paths, ...session }),
  output: z.strictObject({ ask_id: z.string(), due_at: z.int(), receipt: z.literal('sent') }),
});

export const reply = contract({
  ...base,
  operation: 'reply',
  description: 'Answers an ask that was sent to you. The first answer counts.',
  input: z.strictObject({ ask_id: id, message, ...session }),
  output: z.strictObject({ ask_id: z.string(), receipt: z.literal('answered') }),
});

export const handoff = contract({
  ...base,
  operation: 'handoff',
  essential: true,
  description:
    'Offers your work to another developer or agent, with the context that you published for it (covibe_session publish_context first). ' +
    'The tasks and claims you name pass to them when they accept.',
  input: z.strictObject({
    to,
    message,
    task_ids: ids.describe('Your tasks to hand over.'),
    claim_ids: ids.describe('Your live claims to hand over.'),
    repo: repo.optional(),
    branch: branch.optional(),
    ...session,
  }),
  output: z.strictObject({ handoff_id: z.string(), context_id: z.string().nullable() }),
});

export const acceptHandoff = contract({
  ...base,
  operation: 'accept_handoff',
  essential: true,
  description: 'Accepts work that was offered to you. Then fetch its context_id with covibe_session get_context.',
  input: z.strictObject({ handoff_id: id, ...session }),
  output: z.strictObject({
    handoff_id: z.string(),
    from: z.string(),
    message: z.string(),
    context_id: z.string().nullable(),
    task_ids: z.array(z.string()).describe('Tasks that are now yours.'),
    claim_ids: z.array(z.string()).describe('Claims that you now hold.'),
    not_taken: z.array(z.string()).describe('Offered ids that could not be transferred.'),
  }),
});

export const checkConflicts = contract({
  ...base,
  operation: 'check_conflicts',
  description: 'Checks whether you can claim or edit code: conflicting live claims, and (for information) files that others work on.',
  input: z.strictObject({ repo: repo.optional(), paths, symbols, mode, ...session }),
  placed: 'repo',
  output: z.strictObject({ conflicts: z.array(conflictView), file_conflicts: z.array(fileConflict) }),
  annotations: READ,
});

export const LIST_SECTIONS = ['claims', 'asks', 'handoffs', 'announcements'] as const;

export const list = contract({
  ...base,
  operation: 'list',
  description: 'Lists live claims, asks to and from you with receipts, open handoffs, recent announcements. Listed asks count as read.',
  input: z.strictObject({
    what: z.enum(LIST_SECTIONS).optional().describe('Only this section; all by default.'),
    limit: z.int().min(1).max(100).optional().describe('Maximum rows per list, 20 by default.'),
    ...session,
  }),
  output: z.strictObject({
    claims: z.array(claimView).optional(),
    asks_to_me: z.array(askView).optional(),
    asks_by_me: z.array(askView).optional(),
    handoffs_to_me: z.array(handoffView).optional(),
    handoffs_by_me: z.array(handoffView).optional(),
    announcements: z.array(announcementView).optional(),
    cut: z.array(z.string()).describe('Lists with more rows than the limit.'),
  }),
});

export const summary = contract({
  ...base,
  operation: 'summary',
  description: 'Coordination in the whole workspace in a few lines: claims and their holders, unanswered asks, open handoffs.',
  input: z.strictObject({ ...session }),
  output: z.strictObject({
    claims: z.strictObject({
      live: z.int(),
      by_developer: z.array(z.strictObject({ developer: z.string(), exclusive: z.int(), shared: z.int() })),
    }),
    asks: z.strictObject({ waiting: z.int(), overdue: z.int(), undelivered: z.int() }),
    handoffs: z.strictObject({ open: z.int() }),
    announcements: z.strictObject({ last_24_hours: z.int() }),
    markdown: z.string(),
  }),
  annotations: READ,
});

export const board = contract({
  ...MEMBER_READ,
  name: 'coordination.board',
  title: 'Coordination board',
  description: 'Live claims, open and recent asks, handoffs and announcements of the workspace.',
  input: z.strictObject({}),
  output: z.strictObject({
    claims: z.array(claimView),
    asks: z.array(askView),
    handoffs: z.array(handoffView),
    announcements: z.array(announcementView),
  }),
});

/** A live or ended claim, as people see it. */
const shownClaim = z.strictObject({
  ...claimView.shape,
  agent_id: z.string().nullable().describe('Id of the agent that holds it.'),
  state: z.enum(['live', 'released', 'expired']),
  ended_at: z.int().nullable(),
  may_release: z.boolean().describe('Whether the caller may release it.'),
});
export type ShownClaim = z.output<typeof shownClaim>;

export const listClaims = contract({
  ...MEMBER_READ,
  name: 'claims.list',
  title: 'List claims',
  description: 'Live claims of the workspace, newest first, a page at a time.',
  input: z.strictObject({
    mine: z.boolean().optional(),
    repository: text(300).optional().describe('Name of the repository.'),
    before: id.optional().describe('Last claim of the previous page.'),
    limit: z.int().min(1).max(200).optional(),
  }),
  output: z.strictObject({ items: z.array(shownClaim), more: z.boolean(), total: z.int() }),
});

export const showClaim = contract({
  ...MEMBER_READ,
  name: 'claims.show',
  title: 'A claim',
  description: 'A claim of the workspace, live or ended.',
  input: z.strictObject({ claim_id: id.describe('Id of the claim, or the end of it.') }),
  output: z.strictObject({ claim: shownClaim }),
});

export const releaseByHand = contract({
  name: 'claims.release',
  toolset: 'admin',
  access: 'member',
  title: 'Release a claim',
  description: 'Releases a claim, so that others can claim the code. Developers can release claims of their own agents, operators any claim.',
  input: z.strictObject({ claim_id: id.describe('Id of the claim, or the end of it.') }),
  output: release.output,
  annotations: { idempotentHint: true },
});
