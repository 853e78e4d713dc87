// Written by `npm run schema` from the migrations. Do not edit.
import type { EpochMs, JsonText } from './rows.ts';

export interface SchemaMigrationRow {
  number: number;
  name: string;
  applied_at: EpochMs;
}

export interface EventRow {
  workspace_id: string;
  seq: number;
  category: 'usage' | 'work' | 'feedback' | 'audit';
  kind: string;
  actor: string;
  subject: string | null;
  session: string | null;
  /** Canonical JSON. The hash covers exactly this text. */
  payload: JsonText;
  time: EpochMs;
  hash: string;
}

/** The number and hash of each workspace's last event. An append reads only this row. If somebody removes the last events, the row shows that they are missing. */
export interface JournalHeadRow {
  workspace_id: string;
  seq: number;
  hash: string;
}

/** The point at which a pruned journal begins: the last deleted event, whose hash was verified before it was deleted. */
export interface JournalAnchorRow {
  workspace_id: string;
  seq: number;
  hash: string;
  /** The time of the last deleted event. */
  time: EpochMs;
}

/** The number of events that each token's calls added to the journal in a day. Several servers share the count. */
export interface JournalGrowthRow {
  workspace_id: string;
  token_id: string;
  /** In UTC, as 2026-11-18. */
  day: string;
  events: number;
}

export interface WorkspaceRow {
  id: string;
  name: string;
  created_at: EpochMs;
}

export interface DeveloperRow {
  workspace_id: string;
  id: string;
  name: string;
  role: 'admin' | 'member';
  visibility: 'team' | 'private';
  created_at: EpochMs;
}

/** Developers who may run agents on the server's machine. */
export interface MachinePermissionRow {
  workspace_id: string;
  developer_id: string;
  given_at: EpochMs;
  given_by: string;
}

export interface TokenRow {
  workspace_id: string;
  id: string;
  /** SHA-256 of the token, hex. The token itself is shown once and never stored. */
  hash: string;
  kind: 'operator' | 'developer' | 'agent' | 'instance' | 'web';
  developer_id: string | null;
  agent_type: string | null;
  instance_id: string | null;
  label: string;
  created_by: string;
  created_at: EpochMs;
  expires_at: EpochMs | null;
  last_used_at: EpochMs | null;
  revoked_at: EpochMs | null;
  /** Only for browser sign-ins: SHA-256 of a secret. With this secret, a page proves that it runs on the dashboard's own origin. */
  proof_hash: string | null;
  /** SHA-256 of the secret before the last rotation, which is accepted until previous_ends_at. */
  previous_hash: string | null;
  previous_ends_at: EpochMs | null;
}

export interface SigninLinkRow {
  workspace_id: string;
  hash: string;
  developer_id: string;
  created_at: EpochMs;
  expires_at: EpochMs;
  used_at: EpochMs | null;
}

/** One-time tickets for signed-in browsers. Each ticket opens one path, for requests in which a page cannot set a header. */
export interface PageTicketRow {
  workspace_id: string;
  hash: string;
  token_id: string;
  path: string;
  expires_at: EpochMs;
}

/** A machine that requested tokens for its agents. It belongs to nobody until a signed-in person approves it. */
export interface DeviceGrantRow {
  id: string;
  /** Eight letters shown on both screens, for a person to compare. */
  user_code: string;
  /** SHA-256 of the code that the machine polls with. The code itself is returned once and never stored. */
  device_code_hash: string;
  machine_name: string;
  agents: JsonText;
  /** The address that the request came from. */
  source: string;
  status: 'pending' | 'approved' | 'denied' | 'consumed';
  workspace_id: string | null;
  developer_id: string | null;
  created_at: EpochMs;
  expires_at: EpochMs;
  polled_at: EpochMs | null;
  /** How many seconds the machine must wait between two polls. */
  interval_seconds: number;
  decided_at: EpochMs | null;
}

/** One run of an agent's program, from its first hook to its last. */
export interface ClientRunRow {
  workspace_id: string;
  actor: string;
  /** The id that the agent's program gave to the run. */
  client_session: string;
  client: string;
  developer_id: string;
  /** The agent session of the run. */
  session_id: string | null;
  /** 1: the server started the session, and ends it when the agent starts its own session. */
  automatic: number;
  repo: string | null;
  folder: string | null;
  /** 1: the agent's context was compacted, and the server has not yet sent the necessary facts again. */
  compacted: number;
  /** The newest handoff that the agent was notified about. It is stored here because handoffs have no receipts. */
  handoffs_told: string | null;
  /** Hash of the unfinished points that were reported when the agent last tried to stop, so that the same points do not stop it again. */
  told_at_stop: string | null;
  /** The edits that were denied in the last minute, by claim and path, with their times. */
  denials: JsonText;
  /** The state of the working tree when the run began: hashes of uncommitted files, and the number of unpushed commits on each branch. */
  found: JsonText;
  started_at: EpochMs;
  last_seen_at: EpochMs;
  ended_at: EpochMs | null;
}

export interface GrantRow {
  workspace_id: string;
  id: string;
  /** operator, developer:<id>, token:<id> or instance:<id>. */
  subject: string;
  action: string;
  scope: JsonText;
  max_uses: number | null;
  uses: number;
  expires_at: EpochMs | null;
  /** Increases with every change to the grant, so that an audit row can show which version of the grant was applied. */
  revision: number;
  granted_by: string;
  created_at: EpochMs;
  revoked_at: EpochMs | null;
  revoked_by: string | null;
  /** The times of the last calls under this grant, oldest first, if its scope has max_per_minute. */
  recent: JsonText | null;
}

/** Another MCP server that has answered at least once. Stored in the default workspace, because it belongs to the server, not to a team. */
export interface UpstreamRow {
  workspace_id: string;
  name: string;
  /** What the server reported: protocol revision, capabilities, name, version, and its last list of resources and templates. */
  facts: JsonText;
  first_seen_at: EpochMs;
}

/** An approved definition, and the last seen one if it differs. */
export interface UpstreamPinRow {
  workspace_id: string;
  server: string;
  kind: 'tool' | 'prompt';
  /** The server's name for it. */
  name: string;
  /** The name under which agents see it. If two definitions want the same name, the first one keeps it. */
  exposed: string;
  /** Null if the definition was never approved. */
  approved: JsonText | null;
  approved_hash: string | null;
  approved_at: EpochMs | null;
  /** first-sight if the first definition was approved automatically, otherwise the actor who approved it. */
  approved_by: string | null;
  /** Null if the server does not list it anymore. */
  seen: JsonText | null;
  seen_hash: string | null;
  seen_at: EpochMs;
}

/** A call that a person has to approve. */
export interface ApprovalRow {
  workspace_id: string;
  id: string;
  noun: string;
  /** The tool or prompt, or the server of a resource. */
  name: string;
  server: string | null;
  /** Shown to the person who decides, and deleted after the decision. */
  arguments: JsonText | null;
  arguments_sha256: string;
  grant_id: string;
  token_id: string;
  developer_id: string | null;
  actor: string;
  request_id: string;
  status: 'waiting' | 'approved' | 'refused' | 'lapsed' | 'used';
  created_at: EpochMs;
  deadline_at: EpochMs;
  decided_at: EpochMs | null;
  decided_by: string | null;
  /** dashboard, cli, api, or elicitation in the caller's own client. */
  decided_through: string | null;
  reason: string | null;
  used_at: EpochMs | null;
}

/** A tool call that continues with another request, because the server asked the client for input. Its use of the grant is already counted. */
export interface CallRoundRow {
  workspace_id: string;
  token_sha256: string;
  token_id: string;
  noun: string;
  name: string;
  arguments_sha256: string;
  grant_id: string;
  approval_id: string | null;
  request_state: string | null;
  expires_at: EpochMs;
}

export interface CycleRow {
  workspace_id: string;
  /** The id in the database. cycle_id is the name in the contract, which is unique only within a repository. */
  id: string;
  repository: string;
  cycle_id: string;
  feature: string;
  mode: string;
  status: 'active' | 'archived' | 'cancelled';
  /** The state machine when the cycle began, because a later change to the configuration must not affect a running cycle. */
  machine: JsonText;
  /** config.json when the cycle was archived, without PSKs. */
  config: JsonText | null;
  phase: string;
  active_role: string;
  lock_role: string;
  /** Stored in plain text, because lock.acquire returns the same token again. It cannot be used without a session of the role. */
  lock_token: string;
  lock_acquired_at: EpochMs;
  /** How often the cycle returned to an earlier phase. */
  reworks: number;
  started_by: string;
  created_at: EpochMs;
  updated_at: EpochMs;
  completed_at: EpochMs | null;
  ended_at: EpochMs | null;
  ended_by: string | null;
  reason: string | null;
  /** Increases with every change that must be written to the files. If mirrored is lower, the files are outdated. */
  revision: number;
  mirrored: number;
}

/** Documents that one role writes for another. The latest one is the current handoff, and the older ones are its history. */
export interface CycleHandoffRow {
  workspace_id: string;
  cycle: string;
  number: number;
  target: string;
  producer: string;
  payload: JsonText;
  created_at: EpochMs;
}

/** A session that was opened with the PSK of a role. Only the token that opened the session can use it. */
export interface RoleSessionRow {
  workspace_id: string;
  id: string;
  token_sha256: string;
  /** Identifies the PSK that opened the session. If the PSK changes, the session becomes invalid. */
  psk_mark: string;
  repository: string;
  role: string;
  token_id: string;
  actor: string;
  created_at: EpochMs;
  last_seen: EpochMs;
  expires_at: EpochMs;
  closed_at: EpochMs | null;
  closed_by: string | null;
}

/** Counts the wrong PSKs that one caller sent for one role in one repository. Each one delays the next attempt. */
export interface PskFailureRow {
  workspace_id: string;
  /** The path of the file with the PSKs. If failures were counted by folder, every link to that file would allow more guesses. */
  repository: string;
  role: string;
  token_id: string;
  failures: number;
  last_at: EpochMs;
}

/** One run of an agent that the server started in its own worktree. */
export interface InstanceRow {
  workspace_id: string;
  /** For example work-123-a1. Unique in the workspace. */
  id: string;
  type: 'coding' | 'review' | 'planning';
  status: 'started' | 'waiting_review' | 'pr_created' | 'pr_merged' | 'pr_closed' | 'terminated' | 'abandoned';
  /** The launcher that started it. */
  agent: string;
  /** The developer for whom the instance works. The team sees its work under this developer. Null in a workspace without developers. */
  developer_id: string | null;
  /** The id under which the agent is registered (agent_register) and receives messages. */
  agent_id: string;
  /** The token of the agent's process. Null until the process is started. */
  token_id: string | null;
  /** The machine that has the worktree and the agent session. Servers on other machines do not touch the instance. */
  machine: string;
  repository: string;
  worktree_path: string;
  branch_name: string;
  base_branch: string;
  base_commit: string | null;
  session_name: string;
  session_kind: 'tmux' | 'process' | null;
  /** The process group. Its start time is stored too, because the system may reuse the pid. */
  pid: number | null;
  process_start: number | null;
  issue_number: number | null;
  prompt: string;
  /** Only for a review: the instance under review, and the number of the review. */
  parent_instance_id: string | null;
  review_iteration: number | null;
  /** Counts needs_work verdicts, and review requests that were refused because of the limit. */
  failed_reviews: number;
  pr_number: number | null;
  pr_url: string | null;
  /** News for the agent. If the agent has ended, it is started again with this text as the prompt. */
  news: string | null;
  /** Why the agent stopped, or why the worktree was not removed. */
  status_reason: string | null;
  kept_reason: string | null;
  /** The git ref that saves the content of the worktree if a person forced its removal. */
  backup_ref: string | null;
  created_by: string;
  created_at: EpochMs;
  updated_at: EpochMs;
  last_activity: EpochMs;
  ended_at: EpochMs | null;
  step: 'worktree' | 'session' | 'restart' | 'ending' | 'pull' | 'issues' | null;
  step_until: EpochMs | null;
  /** The process that runs the step. Null if any process may run it. */
  step_by: string | null;
  /** The parameters of the step. */
  step_data: JsonText | null;
  /** The number of additional reviews that a person allowed after the limit was reached. */
  extra_reviews: number;
}

export interface InstanceRelationshipRow {
  workspace_id: string;
  parent_instance: string;
  child_instance: string;
  relationship_type: 'spawned_review';
  review_iteration: number;
  /** How it ended: the feedback type, approved, timeout or stopped. */
  outcome: string | null;
  created_at: EpochMs;
  ended_at: EpochMs | null;
}

/** The full feedback of a review agent to the coding agent. */
export interface ReviewFeedbackRow {
  workspace_id: string;
  id: string;
  review_instance: string;
  coding_instance: string;
  review_iteration: number;
  feedback: string;
  feedback_type: 'needs_work' | 'suggestions' | 'clarification';
  priority: 'low' | 'normal' | 'high' | 'urgent';
  actionable_items: JsonText;
  /** The commit that adds the feedback, once it exists. When delivered is merged, the commit is on the coding branch. */
  git_commit_hash: string | null;
  delivered: 'merged' | 'message' | null;
  /** Why the feedback could not be merged. */
  reason: string | null;
  created_at: EpochMs;
  /** Set until the feedback has been delivered. */
  step: 'merging' | null;
  step_until: EpochMs | null;
  /** The process that runs the step. */
  step_by: string | null;
}

/** Settings of a workspace that differ from the default. */
export interface SettingRow {
  workspace_id: string;
  key: string;
  value: string;
  updated_at: EpochMs;
  updated_by: string;
}

/** One item of work, such as a task, in the index that finds duplicate work. */
export interface OverlapItemRow {
  workspace_id: string;
  id: string;
  /** A short id, because it is repeated in many rows of overlap_postings. */
  number: number;
  kind: 'task' | 'workstream' | 'workflow_task';
  owner_id: string;
  title: string;
  scope: string | null;
  action: 'create' | 'modify' | 'remove' | 'fix' | 'audit' | null;
  component: string | null;
  task_type: string | null;
  status: 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled';
  repo: string | null;
  /** The extracted terms. */
  analysed: JsonText;
  prefix: string | null;
  files: JsonText;
  /** Increases with every change in the workspace, so that a process can read only the changed rows. */
  revision: number;
  updated_at: EpochMs;
  closed_at: EpochMs | null;
}

/** An inverted index that maps each term to the items that contain it. */
export interface OverlapPostingRow {
  workspace_id: string;
  term: string;
  item: number;
  weight: number;
}

export interface OverlapTermRow {
  workspace_id: string;
  term: string;
  items: number;
}

export interface OverlapStateRow {
  workspace_id: string;
  revision: number;
  items: number;
  next_number: number;
  /** The workspace's own settings. */
  settings: JsonText | null;
}

export interface OverlapVectorRow {
  workspace_id: string;
  item_id: string;
  model: string;
  /** Base64 of 32-bit floats. */
  vector: string;
}

/** A file that is in use, because an open task lists it, a working tree has changes to it, or somebody has claimed it. */
export interface FileMarkRow {
  workspace_id: string;
  path: string;
  source: 'task' | 'snapshot' | 'claim';
  source_id: string;
  developer_id: string;
  repo: string | null;
  action: string | null;
  /** The name shown to people, such as the title of a task or a branch. */
  label: string | null;
  marked_at: EpochMs;
  expires_at: EpochMs | null;
}

export interface PreflightCheckRow {
  workspace_id: string;
  id: string;
  kind: 'task' | 'workstream';
  developer_id: string;
  title: string;
  /** The planned task or workstream to start. */
  planned_id: string | null;
  warning_id: string | null;
  /** The candidates for which the agent must decide whether they are duplicates, as they were returned. If empty, no verdict is needed. */
  candidates: JsonText;
  created_at: EpochMs;
  /** A check can be used for one start. */
  used_at: EpochMs | null;
}

export interface OverlapWarningRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  kind: 'task' | 'workstream';
  title: string;
  /** The work that the warning is about, once that work exists. */
  subject_id: string | null;
  check_id: string | null;
  level: 'warn' | 'escalated';
  matches: JsonText;
  status: 'open' | 'judged' | 'confirmed' | 'dismissed';
  reason: string | null;
  created_at: EpochMs;
  resolved_at: EpochMs | null;
}

export interface ScopeVerdictRow {
  workspace_id: string;
  id: string;
  check_id: string;
  warning_id: string | null;
  developer_id: string;
  subject_id: string;
  verdict: 'distinct' | 'duplicate';
  candidates: JsonText;
  confirmation_reason: string | null;
  created_at: EpochMs;
}

export interface TaskRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  /** The actor that planned or started the task. */
  actor: string;
  session_id: string | null;
  /** Null only in rows from an older version. The next start of the server adds a value. */
  workstream_id: string | null;
  title: string;
  task_type: 'feature' | 'bug' | 'refactor' | 'chore' | 'docs' | 'test' | 'spike';
  status: 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled';
  description: string | null;
  scope: string | null;
  action: 'create' | 'modify' | 'remove' | 'fix' | 'audit' | null;
  component: string | null;
  priority: 'low' | 'normal' | 'high' | 'urgent';
  target_files: JsonText;
  repo: string | null;
  result_summary: string | null;
  summary: string | null;
  /** Why the work was cancelled. */
  reason: string | null;
  created_at: EpochMs;
  started_at: EpochMs | null;
  updated_at: EpochMs;
  closed_at: EpochMs | null;
}

export interface WorkstreamRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  session_id: string | null;
  title: string;
  description: string | null;
  status: 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled';
  /** 1: created by the server as a container for tasks without a workstream. */
  auto_created: number;
  result_summary: string | null;
  /** Why the work was cancelled. */
  reason: string | null;
  created_at: EpochMs;
  updated_at: EpochMs;
  closed_at: EpochMs | null;
}

/** The result of one audit, which compares all running work with each other and with recently finished work. */
export interface ParallelAuditRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  /** How many items were compared. */
  compared: number;
  conflicts: JsonText;
  created_at: EpochMs;
}

/** One run of an agent. Its owner never changes. */
export interface AgentSessionRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  token_id: string;
  agent_type: string | null;
  agent_name: string | null;
  provider: string | null;
  model: string | null;
  repo: string | null;
  branch: string | null;
  started_at: EpochMs;
  last_seen_at: EpochMs;
  ended_at: EpochMs | null;
}

export interface SessionActivityRow {
  workspace_id: string;
  session_id: string;
  id: string;
  text: string;
  created_at: EpochMs;
}

/** A machine is identified by the token of its companion. */
export interface MachineRow {
  workspace_id: string;
  token_id: string;
  developer_id: string;
  companion_version: string | null;
  last_heartbeat_at: EpochMs;
}

export interface RegisteredRepoRow {
  workspace_id: string;
  token_id: string;
  /** The position in the list that the machine sent. */
  position: number;
  developer_id: string;
  repo: string;
  path: string | null;
  branch: string | null;
}

/** The latest state of one working tree on one branch, as reported by the developer's agents. */
export interface LocalWorktreeRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  repo: string;
  /** Empty if unknown, for example with a detached HEAD. Not null, because it is part of a unique key and no two nulls are equal. */
  branch: string;
  worktree: string;
  head: string | null;
  dirty_files: JsonText;
  unpushed_files: JsonText;
  diff_hashes: JsonText;
  session_id: string;
  updated_at: EpochMs;
}

export interface RepoCommitRow {
  workspace_id: string;
  worktree_id: string;
  /** The newest commit has the lowest position. */
  position: number;
  repo: string;
  sha: string;
  title: string | null;
}

/** A description of work in progress for the agent that continues it. Outdated rows are kept for audit. */
export interface SessionContextRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  session_id: string | null;
  repo: string;
  branch: string | null;
  title: string;
  summary: string;
  files_touched: JsonText;
  next_actions: JsonText;
  blockers: JsonText;
  task_ids: JsonText;
  published_at: EpochMs;
  expires_at: EpochMs;
  superseded_by: string | null;
  revoked_at: EpochMs | null;
}

/** A lease. It is active while it is neither released nor past expires_at. */
export interface ClaimRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  /** The actor that has the claim, with its session if that is known. */
  actor: string;
  agent_type: string | null;
  session_id: string | null;
  repo: string;
  paths: JsonText;
  symbols: JsonText;
  mode: 'exclusive' | 'shared';
  reason: string | null;
  ttl_minutes: number;
  created_at: EpochMs;
  expires_at: EpochMs;
  released_at: EpochMs | null;
  /** When the expiry was recorded in the journal. The claim itself ended at expires_at. */
  expired_at: EpochMs | null;
}

export interface AnnouncementRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  session_id: string | null;
  message: string;
  repo: string | null;
  paths: JsonText;
  created_at: EpochMs;
}

export interface AskRow {
  workspace_id: string;
  id: string;
  from_developer_id: string;
  /** The agent that asked the question and receives the answer. */
  from_actor: string;
  session_id: string | null;
  to_developer_id: string;
  /** Null if any agent of the addressed developer may answer. */
  to_agent_type: string | null;
  message: string;
  repo: string | null;
  paths: JsonText;
  created_at: EpochMs;
  due_at: EpochMs;
  delivered_at: EpochMs | null;
  read_at: EpochMs | null;
  answer: string | null;
  answered_at: EpochMs | null;
  answer_delivered_at: EpochMs | null;
}

export interface HandoffRow {
  workspace_id: string;
  id: string;
  from_developer_id: string;
  session_id: string | null;
  to_developer_id: string;
  to_agent_type: string | null;
  message: string;
  task_ids: JsonText;
  claim_ids: JsonText;
  repo: string | null;
  branch: string | null;
  context_id: string | null;
  status: 'offered' | 'accepted';
  created_at: EpochMs;
  accepted_at: EpochMs | null;
  /** The offered tasks that were actually transferred to the receiver. */
  taken_task_ids: JsonText;
  taken_claim_ids: JsonText;
}

/** A decision or a blocker that the team should know about. Rows never change. A blocker counts as current only for a limited time. */
export interface NoteRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  kind: 'decision' | 'blocker';
  title: string;
  body: string | null;
  task_id: string | null;
  workstream_id: string | null;
  session_id: string | null;
  created_at: EpochMs;
}

/** The number of tokens that one model used. Only the counters, the model name and the hash of the reported data are stored. */
export interface AgentSpanRow {
  workspace_id: string;
  id: string;
  developer_id: string;
  session_id: string | null;
  agent_type: string | null;
  source: string;
  model: string | null;
  provider: string | null;
  input_tokens: number;
  cached_input_tokens: number;
  cache_creation_tokens: number;
  cache_creation_1h_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  total_tokens: number;
  /** Calculated in micro-dollars with the prices of price_version. Null if the price is unknown. */
  cost_micros: number | null;
  price_version: string | null;
  /** The cost that was submitted for the whole payload. Set only in the first row of the payload. */
  submitted_micros: number | null;
  cost_mismatch: number;
  verified: number;
  payload_sha256: string;
  ingested_at: EpochMs;
}

/** A price that the workspace has set for a model. The newest version applies. A version without figures restores the default price. */
export interface ModelPriceRow {
  workspace_id: string;
  version: number;
  model: string;
  /** Micro-dollars per million tokens. */
  input: number | null;
  cached_input: number | null;
  cache_write: number | null;
  cache_write_1h: number | null;
  output: number | null;
  set_by: string;
  set_at: EpochMs;
}

export interface RepositoryRow {
  workspace_id: string;
  id: string;
  /** An absolute path on the machine that registered the repository. */
  path: string;
  name: string;
  created_at: EpochMs;
  updated_at: EpochMs;
}

export interface AgentRow {
  workspace_id: string;
  id: string;
  name: string;
  runtime: 'claude_code' | 'codex' | 'opencode' | 'custom' | 'gemini' | 'cursor';
  role: 'coordinator' | 'worker';
  /** The last reported status. An agent that has not reported for too long counts as offline. */
  status: 'online' | 'offline' | 'busy';
  capabilities: JsonText;
  current_task_id: string | null;
  workspace_path: string | null;
  metadata: JsonText | null;
  /** Null if the operator registered the agent. */
  developer_id: string | null;
  token_id: string;
  actor: string;
  registered_at: EpochMs;
  /** The leases of all claims of this agent are counted from this time. */
  last_seen_at: EpochMs;
  updated_at: EpochMs;
}

export interface WorkflowRow {
  workspace_id: string;
  id: string;
  name: string;
  status: 'planning' | 'ready' | 'in_progress' | 'paused' | 'completed' | 'failed' | 'abandoned';
  status_reason: string | null;
  source_type: 'prompt' | 'github_issue' | 'linear' | 'jira' | 'custom';
  source_ref: string | null;
  source_content: string;
  repository_path: string;
  /** Summary, approach, risks, assumptions. Null until a plan exists. */
  plan: JsonText | null;
  max_parallel_tasks: number;
  auto_create_workspaces: number;
  /** Null if the operator created the workflow. */
  developer_id: string | null;
  actor: string;
  created_at: EpochMs;
  updated_at: EpochMs;
  started_at: EpochMs | null;
  finished_at: EpochMs | null;
}

export interface WorkflowTaskRow {
  workspace_id: string;
  id: string;
  workflow_id: string;
  name: string;
  description: string;
  sequence: number;
  parallel_group: string | null;
  estimated_complexity: 'low' | 'medium' | 'high' | null;
  files: JsonText;
  capabilities: JsonText;
  status: 'pending' | 'planning' | 'in_progress' | 'paused' | 'completed' | 'failed' | 'skipped' | 'removed';
  /** The number of dependencies that are neither completed nor skipped. It is stored so that an index can find the next task. */
  open_dependencies: number;
  plan: JsonText | null;
  context: JsonText | null;
  outcome: string | null;
  outcome_detail: JsonText | null;
  error: string | null;
  /** The agent that has claimed the task. The claim ends if the agent does not report for too long. */
  assigned_agent_id: string | null;
  claimed_at: EpochMs | null;
  /** Increases with every claim, and whenever a claim is revoked. */
  fence: number;
  completed_by: string | null;
  worktree_id: string | null;
  /** The question that a person must answer before the task can continue. After the answer, the task returns to resume_status. */
  question_id: string | null;
  resume_status: 'planning' | 'in_progress' | null;
  last_checkpoint: number;
  /** 0 until the task has been added to the overlap index. */
  indexed: number;
  created_at: EpochMs;
  updated_at: EpochMs;
  started_at: EpochMs | null;
  finished_at: EpochMs | null;
}

export interface WorkflowDependencyRow {
  workspace_id: string;
  workflow_id: string;
  task_id: string;
  depends_on: string;
}

export interface CheckpointRow {
  workspace_id: string;
  task_id: string;
  sequence: number;
  id: string;
  type: 'plan' | 'progress' | 'decision' | 'error' | 'recovery' | 'complete' | 'replan';
  summary: string;
  detail: JsonText | null;
  files_changed: JsonText;
  agent_id: string | null;
  actor: string;
  created_at: EpochMs;
}

/** A git worktree. The workflow contract calls it a workspace, but in the database a workspace belongs to a team. */
export interface WorktreeRow {
  workspace_id: string;
  id: string;
  workflow_id: string;
  status: 'active' | 'merged' | 'abandoned';
  path: string;
  branch: string;
  base_branch: string | null;
  base_commit: string | null;
  merge_commit: string | null;
  repository_path: string;
  /** 1: the server created it on disk and may remove it. 0: it belongs to an agent. */
  made_by_server: number;
  /** Set during the work on disk. If the process dies, another one finishes or undoes the step after step_until. */
  step: 'creating' | 'removing' | null;
  step_until: EpochMs | null;
  /** The worktree was created for the claim of this task that has this fence. */
  task_id: string | null;
  fence: number | null;
  /** Why the worktree is still on disk although its branch was merged or abandoned. */
  kept_reason: string | null;
  actor: string;
  created_at: EpochMs;
  updated_at: EpochMs;
  closed_at: EpochMs | null;
}

export interface WorkflowTemplateRow {
  workspace_id: string;
  id: string;
  name: string;
  description: string | null;
  /** Tasks and variables. */
  definition: JsonText;
  from_workflow_id: string | null;
  actor: string;
  created_at: EpochMs;
}

export interface MessageRow {
  workspace_id: string;
  id: string;
  thread_id: string;
  reply_to_id: string | null;
  /** The id of an agent, or human. */
  sender_id: string;
  recipient_id: string;
  message_type: 'task_assignment' | 'status_update' | 'query' | 'response' | 'notification';
  subject: string | null;
  /** A string or an object. */
  body: JsonText;
  priority: 'low' | 'normal' | 'high' | 'urgent';
  status: 'unread' | 'read' | 'archived';
  workflow_id: string | null;
  task_id: string | null;
  actor: string;
  sent_at: EpochMs;
  delivered_at: EpochMs | null;
  read_at: EpochMs | null;
  archived_at: EpochMs | null;
  /** Only for questions to a person: when the question was answered or became obsolete. */
  answered_at: EpochMs | null;
  expires_at: EpochMs | null;
}

/** Every table of the one store. */
export interface Database {
  schema_migrations: SchemaMigrationRow;
  events: EventRow;
  journal_heads: JournalHeadRow;
  journal_anchors: JournalAnchorRow;
  journal_growth: JournalGrowthRow;
  workspaces: WorkspaceRow;
  developers: DeveloperRow;
  machine_permissions: MachinePermissionRow;
  tokens: TokenRow;
  signin_links: SigninLinkRow;
  page_tickets: PageTicketRow;
  device_grants: DeviceGrantRow;
  client_runs: ClientRunRow;
  grants: GrantRow;
  upstreams: UpstreamRow;
  upstream_pins: UpstreamPinRow;
  approvals: ApprovalRow;
  call_rounds: CallRoundRow;
  cycles: CycleRow;
  cycle_handoffs: CycleHandoffRow;
  role_sessions: RoleSessionRow;
  psk_failures: PskFailureRow;
  instances: InstanceRow;
  instance_relationships: InstanceRelationshipRow;
  review_feedback: ReviewFeedbackRow;
  settings: SettingRow;
  overlap_items: OverlapItemRow;
  overlap_postings: OverlapPostingRow;
  overlap_terms: OverlapTermRow;
  overlap_state: OverlapStateRow;
  overlap_vectors: OverlapVectorRow;
  file_marks: FileMarkRow;
  preflight_checks: PreflightCheckRow;
  overlap_warnings: OverlapWarningRow;
  scope_verdicts: ScopeVerdictRow;
  tasks: TaskRow;
  workstreams: WorkstreamRow;
  parallel_audits: ParallelAuditRow;
  agent_sessions: AgentSessionRow;
  session_activity: SessionActivityRow;
  machines: MachineRow;
  registered_repos: RegisteredRepoRow;
  local_worktrees: LocalWorktreeRow;
  repo_commits: RepoCommitRow;
  session_contexts: SessionContextRow;
  claims: ClaimRow;
  announcements: AnnouncementRow;
  asks: AskRow;
  handoffs: HandoffRow;
  notes: NoteRow;
  agent_spans: AgentSpanRow;
  model_prices: ModelPriceRow;
  repositories: RepositoryRow;
  agents: AgentRow;
  workflows: WorkflowRow;
  workflow_tasks: WorkflowTaskRow;
  workflow_dependencies: WorkflowDependencyRow;
  checkpoints: CheckpointRow;
  worktrees: WorktreeRow;
  workflow_templates: WorkflowTemplateRow;
  messages: MessageRow;
}
