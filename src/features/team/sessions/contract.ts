import { z } from 'zod';
import { branch, contract, id, MEMBER_READ, ownSessionId, READ, repo, repoPath, sessionId, text, title } from '../../../kernel/contract.ts';
import { fileConflict } from '../overlap/contract.ts';

/** Limits of one report about a machine or working tree. They are published, and they are the same on every surface. */
export const MAX_VERSION_CHARACTERS = 64;
export const MAX_REGISTERED_REPOS = 200;
export const MAX_FILES = 500;
export const MAX_COMMITS = 50;
export const MAX_ACTIVITY_CHARACTERS = 500;

/** The number of activity lines that are stored for a session. Older lines are deleted. */
export const ACTIVITY_KEPT = 200;

/** A reported file counts as in use for this long. A machine in use sends its next report long before this time is over. */
export const SNAPSHOT_HOLDS_MS = 24 * 3_600_000;
/** If a working tree was not reported for this long, it is deleted from the graph. */
export const WORKTREE_FORGOTTEN_MS = 30 * 24 * 3_600_000;

/** A session that is silent for longer than this is stale. Its agent may have abandoned it. */
export const STALE_AFTER_MS = 30 * 60_000;

export const SESSION_STATES = ['active', 'stale', 'ended'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export function sessionState(session: { last_seen_at: number; ended_at: number | null }, now: number): SessionState {
  if (session.ended_at !== null) return 'ended';
  return now - session.last_seen_at > STALE_AFTER_MS ? 'stale' : 'active';
}

const base = {
  name: 'covibe_session',
  toolset: 'team',
  title: 'Your session',
  about:
    'Your run as teammates see it: start, heartbeat (renews your claims, brings asks and answers), activity, end; snapshot reports the files you changed. publish_context leaves notes for a takeover.',
} as const;

/** Fields that other features add to the reply to a start or heartbeat. */
export const beatNews = {
  renewed_claims: z.int().optional(),
  waiting: z.array(z.strictObject({ ask_id: z.string(), from: z.string(), message: z.string(), due_at: z.int() })).optional(),
  answers: z.array(z.strictObject({ ask_id: z.string(), from: z.string(), answer: z.string(), answered_at: z.int() })).optional(),
  handoffs: z.array(z.strictObject({ handoff_id: z.string(), from: z.string(), message: z.string(), context_id: z.string().nullable() })).optional(),
};
export type BeatNews = z.output<z.ZodObject<typeof beatNews>>;

export const startSession = contract({
  ...base,
  operation: 'start',
  description:
    'Starts a run. Send agent_name, provider and model if you know them. Keep the session_id and pass it to every other covibe tool; heartbeat while you work, end when you stop.',
  input: z.strictObject({
    agent_name: text(100).optional(),
    provider: text(60).optional(),
    model: text(100).optional(),
    agent_type: text(60).optional().describe('claude-code, codex, cursor …; a typed token overrides it.'),
    repo: repo.optional(),
    branch: branch.optional(),
  }),
  placed: 'repo',
  output: z.strictObject({ session_id: z.string(), agent_type: z.string().nullable(), started_at: z.int(), ...beatNews }),
});

const registeredRepo = z.union([repo, z.strictObject({ repo, path: text(500).optional(), branch: branch.optional() })]);

/** This schema does not limit the version and the list of repositories. The handler does, with `checkBounds`. */
export const heartbeat = contract({
  ...base,
  operation: 'heartbeat',
  essential: true,
  description:
    'Reports that you are alive. With session_id: keeps the session active and renews its claims. Without: reports the machine, and registered_repos replaces its list of watched repositories. Returns what is waiting for the agent.',
  input: z.strictObject({
    session_id: sessionId,
    companion_version: z.string().optional().describe(`The companion's version, at most ${MAX_VERSION_CHARACTERS} characters.`),
    registered_repos: z
      .array(registeredRepo)
      .optional()
      .describe(`All repositories of this machine, at most ${MAX_REGISTERED_REPOS}: names, or {repo, path, branch}.`),
  }),
  output: z.strictObject({
    session_id: z.string().nullable(),
    last_seen_at: z.int(),
    registered_repos: z.int().optional(),
    companion: z
      .strictObject({ latest_version: z.string(), tarball_sha256: z.string(), update_available: z.boolean(), signature: z.string().optional() })
      .optional(),
    ...beatNews,
  }),
  annotations: { idempotentHint: true },
});

const sha = z.string().regex(/^[0-9a-fA-F]{4,64}$/, { error: 'expected a commit id in hexadecimal' });
const diffHash = z.string().regex(/^[A-Za-z0-9:+/=_-]{1,128}$/, { error: 'expected a hash' });
const files = z.array(repoPath).max(MAX_FILES);

export const worktreeView = z.strictObject({
  worktree_id: z.string(),
  developer: z.string(),
  branch: z.string().nullable(),
  worktree: z.string().nullable(),
  head: z.string().nullable(),
  dirty_files: z.array(z.string()),
  dirty_count: z.int(),
  unpushed_files: z.array(z.string()),
  unpushed_count: z.int(),
  diff_count: z.int(),
  recent_commits: z.array(z.strictObject({ sha: z.string(), title: z.string().nullable() })),
  updated_at: z.int(),
});
/** The lists may be cut. The counts next to them always give the full number. */
export const localGraphView = z.strictObject({ repo: z.string(), worktrees: z.array(worktreeView), worktree_count: z.int() });
export type LocalGraph = z.output<typeof localGraphView>;

export const snapshot = contract({
  ...base,
  operation: 'snapshot',
  description:
    'Reports the state of your working tree: paths and hashes, never contents. Send it after you change files. A warning names files that a teammate is working on: coordinate before you continue.',
  input: z.strictObject({
    session_id: ownSessionId,
    repo: repo.optional(),
    branch: branch.optional(),
    worktree: text(500).optional().describe('Path or name of the working tree.'),
    head: sha.optional(),
    dirty_files: files.optional().describe('Changed but not committed.'),
    unpushed_files: files.optional().describe('Changed by unpushed commits.'),
    diff_hashes: z
      .union([
        z.record(repoPath, diffHash).refine((hashes) => Object.keys(hashes).length <= MAX_FILES, { error: `at most ${MAX_FILES} entries` }),
        z.array(diffHash).max(MAX_FILES),
      ])
      .optional()
      .describe('Diff hashes: {path: hash}, or a list.'),
    recent_commits: z
      .array(z.union([sha, z.strictObject({ sha, title: text(300).optional() })]))
      .max(MAX_COMMITS)
      .optional()
      .describe('Newest first.'),
  }),
  output: z.strictObject({ worktree_id: z.string(), file_conflicts: z.array(fileConflict), local_graph: localGraphView }),
});

export const logActivity = contract({
  ...base,
  operation: 'activity',
  description: 'Reports in one line what you are doing now; teammates see the latest.',
  input: z.strictObject({
    session_id: ownSessionId,
    text: text(MAX_ACTIVITY_CHARACTERS).regex(/^[^\r\n\u0085\u2028\u2029]*$/, { error: 'expected one line' }),
  }),
  output: z.strictObject({ session_id: z.string(), activity_id: z.string(), last_seen_at: z.int() }),
});

export const endSession = contract({
  ...base,
  operation: 'end',
  essential: true,
  description: 'Ends your run and releases its claims. If work is left, publish a context first.',
  input: z.strictObject({ session_id: ownSessionId }),
  output: z.strictObject({ session_id: z.string(), ended_at: z.int(), released_claims: z.int().optional() }),
  annotations: { idempotentHint: true },
});

export const sessionView = z.strictObject({
  session_id: z.string(),
  developer: z.string(),
  agent_type: z.string().nullable(),
  agent_name: z.string().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  repo: z.string().nullable(),
  branch: z.string().nullable(),
  state: z.enum(SESSION_STATES),
  started_at: z.int(),
  last_seen_at: z.int(),
  ended_at: z.int().nullable(),
  last_activity: z.string().nullable(),
});
export type SessionView = z.output<typeof sessionView>;

export const listSessions = contract({
  ...MEMBER_READ,
  name: 'sessions.list',
  title: 'List sessions',
  description: 'The most recently seen sessions, with their state: active, stale or ended.',
  input: z.strictObject({ limit: z.int().min(1).max(200).default(50) }),
  output: z.strictObject({ items: z.array(sessionView) }),
});

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
  /** True if long texts of this context were shortened for a list. A call with context_id or developer returns the whole context. */
  cut: z.boolean(),
});
export type ContextView = z.output<typeof contextView>;

export const publishContext = contract({
  ...base,
  operation: 'publish_context',
  description:
    'Publishes what a teammate needs to take over: what you did, what is next, what blocks. Replaces your earlier one for the same repo and branch. Never send prompts, transcripts, diffs or file contents.',
  input: z.strictObject({
    title,
    summary: text(4_000).describe('State of the work.'),
    repo,
    branch: branch.optional(),
    files_touched: z.array(repoPath).max(200).optional(),
    next_actions: lines.optional(),
    blockers: lines.optional(),
    task_ids: z.array(id).max(50).optional(),
    session_id: sessionId,
    ttl_hours: z.int().min(1).max(168).default(24),
  }),
  output: z.strictObject({ context_id: z.string(), expires_at: z.int(), superseded: z.array(z.string()) }),
});

export const getContext = contract({
  ...base,
  operation: 'get_context',
  description:
    "A teammate's latest context (by developer), or the one a handoff refers to (by context_id); without either, all active ones of the workspace. Read it before you take over work.",
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
  description: 'Revokes a context that you published.',
  input: z.strictObject({ context_id: id }),
  output: z.strictObject({ context_id: z.string(), revoked_at: z.int() }),
});
