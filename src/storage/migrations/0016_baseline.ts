import type { Migration } from '../migrate.ts';
import { createTables } from '../schema-text.ts';

/**
 * Every table of the store, in the language of `schema-text.ts`. Row types are generated from it, with its comments (`npm run schema`).
 * The SQL that it makes is, to the letter, the SQL of the sixteen migrations that it replaces: a restored file is compared by that text.
 * That is why conditions have quotes, and why some indexes are written as whole statements. The order of a table's indexes counts: of two
 * that serve a query equally well SQLite takes the one that was made last.
 */
const TABLES = `
table schema_migrations (number)
  number int, name, applied_at time

table events (workspace_id, seq)
  workspace_id, seq bigint
  category 'usage' | 'work' | 'feedback' | 'audit'
  kind, actor, subject?, session?
  payload json -- Canonical JSON: the hash is over exactly this text.
  time time, hash
  without rowid -- The key is the order in which rows come and are read: SQLite keeps one tree instead of two.
  index events_feedback (workspace_id, seq) where "category" = 'feedback' -- Feedback is rare: other events do not pay for this index.
  index events_subject (workspace_id, subject, seq)
  index events_actor (workspace_id, actor, seq)

-- The end of each workspace's chain, so that an append reads one row and a cut-off tail is noticed.
table journal_heads (workspace_id)
  workspace_id, seq bigint, hash

-- Where a pruned journal begins: its last deleted event, as verified when it was deleted.
table journal_anchors (workspace_id)
  workspace_id, seq bigint, hash
  time time -- The time of that event.

-- How many events the calls of each token have added to the journal in a day, so that several servers count together.
table journal_growth (workspace_id, token_id, day)
  workspace_id, token_id
  day -- In UTC, as 2026-11-18.
  events bigint

table workspaces (id)
  id, name unique, created_at time

table developers (workspace_id, id)
  workspace_id, id, name
  role 'admin' | 'member'
  visibility 'team' | 'private'
  created_at time
  unique developers_name (workspace_id, name)

-- Developers whom the operator lets run agents on the server's machine.
table machine_permissions (workspace_id, developer_id)
  workspace_id, developer_id, given_at time, given_by

table tokens (workspace_id, id)
  workspace_id, id
  hash unique -- SHA-256 of the token, hex. The token itself is shown once and never stored.
  kind 'operator' | 'developer' | 'agent' | 'instance' | 'web'
  developer_id?, agent_type?, instance_id?, label, created_by, created_at time, expires_at? time, last_used_at? time, revoked_at? time
  proof_hash? -- Of a browser's sign-in: SHA-256 of the secret by which its page shows that it is the dashboard's own origin.
  previous_hash? -- SHA-256 of the secret that the last rotation replaced; it is accepted until previous_ends_at.
  previous_ends_at? time
  index tokens_of_agents (workspace_id, id) where "kind" = 'agent'
  index tokens_live (workspace_id, id) where "revoked_at" is null
  ending index
  unique index tokens_previous_hash (previous_hash) where "previous_hash" is not null
  index tokens_expiring (workspace_id, expires_at) where "revoked_at" is null and "kind" = 'agent'

table signin_links (hash)
  workspace_id, hash, developer_id, created_at time, expires_at time, used_at? time

-- Opens one address once for a browser's sign-in, where its page cannot send a header.
table page_tickets (hash)
  workspace_id, hash, token_id, path, expires_at time
  index page_tickets_expiry (workspace_id, expires_at)

-- A machine that asked for tokens for its agents. It belongs to nobody until somebody signed in has approved it.
table device_grants (id)
  id
  user_code -- What a person reads on one screen and compares on the other: eight letters.
  device_code_hash unique -- SHA-256 of what the machine asks with; the code itself is given out once and never stored.
  machine_name, agents json
  source -- The address that the request came from.
  status 'pending' | 'approved' | 'denied' | 'consumed'
  workspace_id?, developer_id?, created_at time, expires_at time, polled_at? time
  interval_seconds int -- How long the machine has to wait between two questions.
  decided_at? time
  create unique index device_grants_code on device_grants (user_code) where status = 'pending'
  index device_grants_expiry (expires_at)

-- One run of an agent's program, from its first hook to its last.
table client_runs (workspace_id, actor, client_session)
  workspace_id, actor
  client_session -- The program's own id of the run.
  client, developer_id
  session_id? -- The agent session that stands for it.
  automatic int -- 1: the server has started that session for it, and ends it when the agent starts one itself.
  repo?, folder?
  compacted int -- 1: its context was compacted, and what it has to know has not been put back yet.
  handoffs_told? -- The newest handoff that it was notified of: handoffs have no receipts.
  told_at_stop? -- Hash of the open points named at its last stop, so that the same points do not hold it up twice.
  denials json -- What it was denied in the last minute, by claim and path, and when.
  found json -- The working tree as found: hashes of uncommitted paths, and the number of unpushed commits per branch.
  started_at time, last_seen_at time, ended_at? time
  index client_runs_session (workspace_id, session_id)
  index client_runs_seen (last_seen_at)

table grants (workspace_id, id)
  workspace_id, id
  subject -- operator, developer:<id>, token:<id> or instance:<id>.
  action, scope json, max_uses? int, uses int, expires_at? time
  revision int -- Rises with every change of the grant, so that an audit row can say which state of it decided.
  granted_by, created_at time, revoked_at? time, revoked_by?
  recent? json -- The times of its last calls, oldest first, where its scope has max_per_minute.
  index grants_subject_action (workspace_id, subject, action)

-- Another MCP server that has answered once. Kept in the default workspace: the entry is the whole server's, not a team's.
table upstreams (workspace_id, name)
  workspace_id, name
  facts json -- What it said of itself: protocol revision, capabilities, name and version; resources and templates as last listed.
  first_seen_at time

-- A definition as it was approved, and as it was last seen where that is another.
table upstream_pins (workspace_id, server, kind, name)
  workspace_id, server
  kind 'tool' | 'prompt'
  name -- As the server calls it.
  exposed -- As it is offered. Who was seen first under a name keeps it.
  approved? json -- Null: never approved.
  approved_hash?, approved_at? time
  approved_by? -- first-sight, or the actor who approved it.
  seen? json -- Null: the server no longer lists it.
  seen_hash?, seen_at time

-- A call that a person has to approve.
table approvals (workspace_id, id)
  workspace_id, id, noun
  name -- The tool or prompt, or the server of a resource.
  server?
  arguments? json -- What the person decides on. Wiped with the decision: arguments are not kept.
  arguments_sha256, grant_id, token_id, developer_id?, actor, request_id
  status 'waiting' | 'approved' | 'refused' | 'lapsed' | 'used'
  created_at time, deadline_at time, decided_at? time, decided_by?
  decided_through? -- Where: dashboard, cli, api, or the caller's own client by elicitation.
  reason?, used_at? time
  index approvals_same_call (workspace_id, token_id, arguments_sha256, status) -- A repeated call finds the approval that still waits.
  index approvals_due (status, deadline_at) -- The sweep searches all workspaces.
  ending index

-- A call of several rounds that has been counted.
table call_rounds (workspace_id, token_sha256)
  workspace_id, token_sha256, token_id, noun, name, arguments_sha256, grant_id, approval_id?, request_state?, expires_at time
  index call_rounds_due (expires_at)

table cycles (workspace_id, id)
  workspace_id
  id -- Of the store; cycle_id is the contract's name for it, and unique in its repository only.
  repository, cycle_id, feature, mode
  status 'active' | 'archived' | 'cancelled'
  machine json -- As it was when the cycle began: a changed config must not move a cycle under its agents' feet.
  config? json -- What config.json said when the cycle was archived, without PSKs.
  phase, active_role, lock_role
  lock_token -- Needed as it is, because lock.acquire gives it out again. Of no use without a session of its role.
  lock_acquired_at time
  reworks int -- How often the turn went back to an earlier phase.
  started_by, created_at time, updated_at time, completed_at? time, ended_at? time, ended_by?, reason?
  revision int -- Rises with every change of what the files show; where mirrored is behind, the files are.
  mirrored int
  unique cycles_named (repository, cycle_id)
  create unique index cycles_active on cycles (repository) where status = 'active' -- A folder is the same in every workspace: one active cycle in it.
  index cycles_of_repository (repository, id)
  create index cycles_unmirrored on cycles (repository, id) where mirrored < revision

-- What one role has left for another. The latest is the handoff; older ones are its history.
table cycle_handoffs (workspace_id, cycle, number)
  workspace_id, cycle, number int, target, producer, payload json, created_at time

-- A role's turn at the contract, opened with its PSK. Bound to the token that opened it.
table role_sessions (workspace_id, id)
  workspace_id, id, token_sha256
  psk_mark -- Of the PSK that it was opened with: with another one it is no longer good.
  repository, role, token_id, actor, created_at time, last_seen time, expires_at time, closed_at? time, closed_by?
  unique role_sessions_token (workspace_id, token_sha256)
  index role_sessions_of_repository (workspace_id, repository, id)
  index role_sessions_by_expiry (expires_at)

-- Wrong PSKs of one caller for one role in one repository: each makes the next one wait.
table psk_failures (workspace_id, repository, role, token_id)
  workspace_id
  repository -- The path of the file with its PSKs: by folder, every link to that file would give free guesses.
  role, token_id, failures int, last_at time

-- One run of an agent that the server itself has started, in a worktree of its own.
table instances (workspace_id, id)
  workspace_id
  id -- work-123-a1; unique in its workspace.
  type 'coding' | 'review' | 'planning'
  status 'started' | 'waiting_review' | 'pr_created' | 'pr_merged' | 'pr_closed' | 'terminated' | 'abandoned'
  agent -- The launcher that it was started with.
  developer_id? -- For whom it works, as which developer it takes part in the team; null in a workspace without any.
  agent_id -- As which messages reach it (agent_register).
  token_id? -- The token that its process has; null until it is started.
  machine -- Where its worktree and session are: servers on other machines leave it alone.
  repository, worktree_path, branch_name, base_branch, base_commit?, session_name
  session_kind? 'tmux' | 'process'
  pid? int -- Of the plain process group that it is, with when it began: a number alone may be somebody else's by now.
  process_start? bigint, issue_number? int, prompt
  parent_instance_id? -- Of a review: whose work it looks at, and for which time.
  review_iteration? int
  failed_reviews int -- Refused requests at the limit, and verdicts needs_work.
  pr_number? int, pr_url?
  news? -- News for its agent: if the agent has ended, it is started again with this prompt.
  status_reason? -- Why it is no longer at work, or why its worktree was kept.
  kept_reason?
  backup_ref? -- What was in its worktree when a person had it removed all the same.
  created_by, created_at time, updated_at time, last_activity time, ended_at? time
  step? 'worktree' | 'session' | 'restart' | 'ending' | 'pull' | 'issues'
  step_until? time
  step_by? -- The process that carries it out; null: whoever comes first.
  step_data? json -- How the step is to be done.
  extra_reviews int = 0 -- Reviews that a person has allowed beyond the limit of the settings.
  create index instances_under_way on instances (step_until) where step is not null
  create index instances_running on instances (workspace_id, id) where ended_at is null
  create unique index instances_place on instances (machine, worktree_path) where ended_at is null -- One instance at a time works in a folder.
  index instances_status (workspace_id, status)
  index instances_made (workspace_id, created_at, id)
  index instances_ended (workspace_id, ended_at)
  ending index

table instance_relationships (workspace_id, parent_instance, child_instance, relationship_type)
  workspace_id, parent_instance, child_instance
  relationship_type 'spawned_review'
  review_iteration int
  outcome? -- How it ended: the type of its feedback, approved, timeout, stopped.
  created_at time, ended_at? time
  unique instance_relationships_iteration (workspace_id, parent_instance, relationship_type, review_iteration)
  index instance_relationships_child (workspace_id, child_instance)

-- What a review agent told the coding agent, in full.
table review_feedback (workspace_id, id)
  workspace_id, id, review_instance, coding_instance, review_iteration int, feedback
  feedback_type 'needs_work' | 'suggestions' | 'clarification'
  priority 'low' | 'normal' | 'high' | 'urgent'
  actionable_items json
  git_commit_hash? -- The commit that is to bring it, once it is made; the coding branch has it when delivered is merged.
  delivered? 'merged' | 'message'
  reason? -- Why it could not be merged.
  created_at time
  step? 'merging' -- Until it has been delivered, one way or the other.
  step_until? time
  step_by? -- The process that carries it out.
  unique review_feedback_once (workspace_id, review_instance) -- A review gives its verdict once.
  index review_feedback_for (workspace_id, coding_instance, id)
  create index review_feedback_under_way on review_feedback (step_until) where step is not null

-- What a workspace has set otherwise than the default.
table settings (workspace_id, key)
  workspace_id, key, value, updated_at time, updated_by

-- One piece of work as the index knows it, whichever feature it is of.
table overlap_items (workspace_id, id)
  workspace_id, id
  number int -- A short name for the postings, which are many.
  kind 'task' | 'workstream' | 'workflow_task'
  owner_id, title, scope?
  action? 'create' | 'modify' | 'remove' | 'fix' | 'audit'
  component?, task_type?
  status 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled'
  repo?
  analysed json -- Analysed: the terms, extracted once.
  prefix?, files json
  revision bigint -- Rises with every change in the workspace, so that a process can read what it has not seen.
  updated_at time, closed_at? time
  unique index overlap_items_number (workspace_id, number)
  index overlap_items_revision (workspace_id, revision)
  index overlap_items_closed (workspace_id, closed_at) where "closed_at" is not null
  index overlap_items_prefix (workspace_id, prefix) where "prefix" is not null

-- The inverted index: which items have a term.
table overlap_postings (workspace_id, term, item) include (weight) -- A search reads the weight with the key thousands of times.
  workspace_id, term, item int, weight int
  without rowid

table overlap_terms (workspace_id, term)
  workspace_id, term, items int
  without rowid

table overlap_state (workspace_id)
  workspace_id, revision bigint, items int, next_number int
  settings? json -- What the workspace has set for itself.

table overlap_vectors (workspace_id, item_id, model)
  workspace_id, item_id, model
  vector -- Base64 of 32-bit floats.

-- A file in somebody's hands: named by an open task, changed in a working tree, or claimed.
table file_marks (workspace_id, path, source, source_id)
  workspace_id, path
  source 'task' | 'snapshot' | 'claim'
  source_id, developer_id, repo?, action?
  label? -- What a person would call the source: a task's title, a branch.
  marked_at time, expires_at? time
  index file_marks_source (workspace_id, source, source_id)

table preflight_checks (workspace_id, id)
  workspace_id, id
  kind 'task' | 'workstream'
  developer_id, title
  planned_id? -- The planned task or workstream that is to be started.
  warning_id?
  candidates json -- The escalated candidates, as they were answered. Empty: no verdict needed.
  created_at time
  used_at? time -- A check serves one start.
  index preflight_checks_latest (workspace_id, developer_id, kind, created_at)

table overlap_warnings (workspace_id, id)
  workspace_id, id, developer_id
  kind 'task' | 'workstream'
  title
  subject_id? -- The work that it is about, once that exists.
  check_id?
  level 'warn' | 'escalated'
  matches json
  status 'open' | 'judged' | 'confirmed' | 'dismissed'
  reason?, created_at time, resolved_at? time
  index overlap_warnings_open (workspace_id, id) where "resolved_at" is null
  index overlap_warnings_subject (workspace_id, subject_id)
  index overlap_warnings_escalated (workspace_id, id) where "level" = 'escalated'
  ending index

table scope_verdicts (workspace_id, id)
  workspace_id, id, check_id, warning_id?, developer_id, subject_id
  verdict 'distinct' | 'duplicate'
  candidates json, confirmation_reason?, created_at time
  index scope_verdicts_warning (workspace_id, warning_id)

table tasks (workspace_id, id)
  workspace_id, id, developer_id
  actor -- The agent that planned or started it, as in the journal.
  session_id?
  workstream_id? -- Null only in rows of an older version, until the next start of the server.
  title
  task_type 'feature' | 'bug' | 'refactor' | 'chore' | 'docs' | 'test' | 'spike'
  status 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled'
  description?, scope?
  action? 'create' | 'modify' | 'remove' | 'fix' | 'audit'
  component?
  priority 'low' | 'normal' | 'high' | 'urgent'
  target_files json, repo?, result_summary?, summary?
  reason? -- Why it was cancelled.
  created_at time, started_at? time, updated_at time, closed_at? time
  index tasks_updated (workspace_id, updated_at, id)
  index tasks_workstream (workspace_id, workstream_id, status)
  index tasks_open (workspace_id, updated_at, id) where "closed_at" is null
  index tasks_unplaced (workspace_id, id) where "workstream_id" is null
  index tasks_session (workspace_id, session_id, started_at, id) where "session_id" is not null
  index tasks_owner (workspace_id, developer_id, updated_at, id)
  index tasks_status (workspace_id, status, updated_at, id)
  ending index

table workstreams (workspace_id, id)
  workspace_id, id, developer_id, session_id?, title, description?
  status 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled'
  auto_created int -- 1: made by the server as a container for tasks that named none.
  result_summary?
  reason? -- Why it was cancelled.
  created_at time, updated_at time, closed_at? time
  index workstreams_owner (workspace_id, developer_id, status)
  index workstreams_status (workspace_id, status, updated_at)

-- One comparison of all running work with itself and with what was finished lately.
table parallel_audits (workspace_id, id)
  workspace_id, id, developer_id
  compared int -- How many pieces of work were compared.
  conflicts json, created_at time

-- One run of an agent. Its owner never changes.
table agent_sessions (workspace_id, id)
  workspace_id, id, developer_id, token_id, agent_type?, agent_name?, provider?, model?, repo?, branch?, started_at time, last_seen_at time
  ended_at? time
  index agent_sessions_seen (workspace_id, last_seen_at)
  index agent_sessions_open (workspace_id, last_seen_at) where "ended_at" is null

table session_activity (workspace_id, session_id, id)
  workspace_id, session_id, id, text, created_at time

-- A machine is known by the token that its companion calls with.
table machines (workspace_id, token_id)
  workspace_id, token_id, developer_id, companion_version?, last_heartbeat_at time

table registered_repos (workspace_id, token_id, position)
  workspace_id, token_id
  position int -- The place in the list as the machine sent it.
  developer_id, repo, path?, branch?

-- The latest state of one working tree on one branch, as its developer's agents reported it.
table local_worktrees (workspace_id, id)
  workspace_id, id, developer_id, repo
  branch -- Empty if not given, as with a detached head: part of a unique key, where null equals nothing.
  worktree, head?, dirty_files json, unpushed_files json, diff_hashes json, session_id, updated_at time
  unique local_worktrees_place (workspace_id, repo, developer_id, branch, worktree)
  index local_worktrees_graph (workspace_id, repo, updated_at)
  index local_worktrees_age (workspace_id, developer_id, updated_at)

table repo_commits (workspace_id, worktree_id, position)
  workspace_id, worktree_id
  position int -- Newest first.
  repo, sha, title?

-- What somebody is in the middle of, for whoever takes over. Rows that no longer hold stay for audit.
table session_contexts (workspace_id, id)
  workspace_id, id, developer_id, session_id?, repo, branch?, title, summary, files_touched json, next_actions json, blockers json, task_ids json
  published_at time, expires_at time, superseded_by?, revoked_at? time
  index session_contexts_standing (workspace_id, expires_at) where superseded_by is null and revoked_at is null

-- A lease. It is live while it is neither released nor past expires_at.
table claims (workspace_id, id)
  workspace_id, id, developer_id
  actor -- The agent that holds it, as in the journal; with its session, where that is known.
  agent_type?, session_id?, repo, paths json, symbols json
  mode 'exclusive' | 'shared'
  reason?, ttl_minutes int, created_at time, expires_at time, released_at? time
  expired_at? time -- When the end of the lease was noted in the journal: it had ended at expires_at.
  index claims_standing (workspace_id, expires_at) where "released_at" is null and "expired_at" is null -- Ended claims stay as a record.
  ending index

table announcements (workspace_id, id)
  workspace_id, id, developer_id, session_id?, message, repo?, paths json, created_at time
  index announcements_time (workspace_id, created_at)

table asks (workspace_id, id)
  workspace_id, id, from_developer_id
  from_actor -- The agent that asked: the answer is for it.
  session_id?, to_developer_id
  to_agent_type? -- Null: whichever agent of the addressee.
  message, repo?, paths json, created_at time, due_at time, delivered_at? time, read_at? time, answer?, answered_at? time, answer_delivered_at? time
  index asks_to (workspace_id, to_developer_id, due_at) where "answered_at" is null -- Read with every heartbeat.
  index asks_from (workspace_id, from_developer_id, due_at)
  index asks_open (workspace_id, due_at) where "answered_at" is null
  index asks_fresh_answers (workspace_id, from_developer_id) where "answered_at" is not null and "answer_delivered_at" is null
  ending index

table handoffs (workspace_id, id)
  workspace_id, id, from_developer_id, session_id?, to_developer_id, to_agent_type?, message, task_ids json, claim_ids json, repo?, branch?, context_id?
  status 'offered' | 'accepted'
  created_at time, accepted_at? time
  taken_task_ids json -- Of what was offered, what the receiver has really got.
  taken_claim_ids json
  index handoffs_status (workspace_id, status, created_at)
  index handoffs_to (workspace_id, to_developer_id, status, created_at)
  index handoffs_from (workspace_id, from_developer_id, status, created_at)
  ending index

-- Something that the team should know: decided, or in the way. Never changed; a blocker is recent or it is past.
table notes (workspace_id, id)
  workspace_id, id, developer_id
  kind 'decision' | 'blocker'
  title, body?, task_id?, workstream_id?, session_id?, created_at time
  index notes_time (workspace_id, created_at)
  index notes_session (workspace_id, session_id, created_at, id) where "session_id" is not null

-- Tokens that one model used. All that is kept of a payload: counters, the model's name, and the hash of the whole.
table agent_spans (workspace_id, id)
  workspace_id, id, developer_id, session_id?, agent_type?, source, model?, provider?, input_tokens bigint, cached_input_tokens bigint
  cache_creation_tokens bigint, cache_creation_1h_tokens bigint, output_tokens bigint, reasoning_tokens bigint, total_tokens bigint
  cost_micros? bigint -- In micro-dollars, by price_version; null: no known price.
  price_version?
  submitted_micros? bigint -- Of the whole payload, on the first of its spans.
  cost_mismatch int, verified int, payload_sha256, ingested_at time
  index agent_spans_payload (workspace_id, developer_id, payload_sha256, id) -- With the id, or SQLite scans all spans in its order.
  index agent_spans_time (workspace_id, ingested_at)

-- A price that the workspace set for itself. The newest version of a model holds; one without figures takes it back.
table model_prices (workspace_id, version)
  workspace_id, version int, model
  input? bigint -- Micro-dollars for a million tokens.
  cached_input? bigint, cache_write? bigint, cache_write_1h? bigint, output? bigint, set_by, set_at time

table repositories (workspace_id, id)
  workspace_id, id
  path -- Absolute, on the machine of whoever registered it.
  name, created_at time, updated_at time
  unique repositories_path (workspace_id, path)

table agents (workspace_id, id)
  workspace_id, id, name
  runtime 'claude_code' | 'codex' | 'opencode' | 'custom' | 'gemini' | 'cursor'
  role 'coordinator' | 'worker'
  status 'online' | 'offline' | 'busy' -- As last reported; an agent that is silent for too long counts as offline.
  capabilities json, current_task_id?, workspace_path?, metadata? json
  developer_id? -- Null: registered by the operator.
  token_id, actor, registered_at time
  last_seen_at time -- The lease of every claim that the agent holds runs from here.
  updated_at time
  index agents_silent (status, last_seen_at) -- The sweep searches all workspaces for silent agents.
  index agents_listed (workspace_id, status, id)
  index agents_actor (workspace_id, actor, last_seen_at) -- Hooks look up the agents of their caller after every tool call.

table workflows (workspace_id, id)
  workspace_id, id, name
  status 'planning' | 'ready' | 'in_progress' | 'paused' | 'completed' | 'failed' | 'abandoned'
  status_reason?
  source_type 'prompt' | 'github_issue' | 'linear' | 'jira' | 'custom'
  source_ref?, source_content, repository_path
  plan? json -- Summary, approach, risks, assumptions. Null before there is a plan.
  max_parallel_tasks int, auto_create_workspaces int
  developer_id? -- Null: made by the operator.
  actor, created_at time, updated_at time, started_at? time, finished_at? time
  index workflows_status (workspace_id, status, id)
  index workflows_repository (workspace_id, repository_path, id)

table workflow_tasks (workspace_id, id)
  workspace_id, id, workflow_id, name, description, sequence int, parallel_group?
  estimated_complexity? 'low' | 'medium' | 'high'
  files json, capabilities json
  status 'pending' | 'planning' | 'in_progress' | 'paused' | 'completed' | 'failed' | 'skipped' | 'removed'
  open_dependencies int -- Dependencies that are neither completed nor skipped. Stored, so that the next task is found by an index.
  plan? json, context? json, outcome?, outcome_detail? json, error?
  assigned_agent_id? -- Who holds the claim now. Its lease ends when that agent has been silent for too long.
  claimed_at? time
  fence int -- Rises with every claim and with every claim that is taken away.
  completed_by?, worktree_id?
  question_id? -- The question to a person for whose answer the task waits, and the status it then goes back to.
  resume_status? 'planning' | 'in_progress'
  last_checkpoint int
  indexed int -- 0: not yet in the overlap index.
  created_at time, updated_at time, started_at? time, finished_at? time
  index workflow_tasks_next (workspace_id, workflow_id, status, open_dependencies, sequence, name) -- The next task of 10,000, without a scan.
  index workflow_tasks_sequence (workspace_id, workflow_id, sequence, status)
  index workflow_tasks_name (workspace_id, workflow_id, name)
  index workflow_tasks_group (workspace_id, workflow_id, parallel_group, sequence)
  index workflow_tasks_holder (workspace_id, assigned_agent_id)
  index workflow_tasks_claimed (workspace_id, workflow_id) where "assigned_agent_id" is not null
  index workflow_tasks_indexed (indexed, workspace_id)
  index workflow_tasks_worktree (workspace_id, worktree_id) where "worktree_id" is not null
  ending index

table workflow_dependencies (workspace_id, task_id, depends_on)
  workspace_id, workflow_id, task_id, depends_on
  index workflow_dependents (workspace_id, depends_on, task_id)
  index workflow_dependencies_all (workspace_id, workflow_id)

table checkpoints (workspace_id, task_id, sequence)
  workspace_id, task_id, sequence int, id
  type 'plan' | 'progress' | 'decision' | 'error' | 'recovery' | 'complete' | 'replan'
  summary, detail? json, files_changed json, agent_id?, actor, created_at time

-- A workspace of the workflow contract. Its wire name is taken in the store by the workspaces that teams live in.
table worktrees (workspace_id, id)
  workspace_id, id, workflow_id
  status 'active' | 'merged' | 'abandoned'
  path, branch, base_branch?, base_commit?, merge_commit?, repository_path
  made_by_server int -- 1: the server made it on disk, and so may remove it. 0: an agent's own.
  step? 'creating' | 'removing' -- In progress on disk. If the process dies, another finishes or undoes it after step_until.
  step_until? time
  task_id? -- For whose claim it was made, and under which fence.
  fence? int
  kept_reason? -- Why it is still on disk though it is merged or abandoned.
  actor, created_at time, updated_at time, closed_at? time
  index worktrees_workflow (workspace_id, workflow_id, status)
  index worktrees_path (workspace_id, path)
  index worktrees_task (workspace_id, task_id)
  index worktrees_step (step_until)

table workflow_templates (workspace_id, id)
  workspace_id, id, name, description?
  definition json -- Tasks and variables.
  from_workflow_id?, actor, created_at time
  unique workflow_templates_name (workspace_id, name)

table messages (workspace_id, id)
  workspace_id, id, thread_id, reply_to_id?
  sender_id -- An agent, or human.
  recipient_id
  message_type 'task_assignment' | 'status_update' | 'query' | 'response' | 'notification'
  subject?
  body json -- A string or an object.
  priority 'low' | 'normal' | 'high' | 'urgent'
  status 'unread' | 'read' | 'archived'
  workflow_id?, task_id?, actor, sent_at time, delivered_at? time, read_at? time, archived_at? time
  answered_at? time -- Set on a question to a person, once it was answered or no longer matters.
  expires_at? time
  index messages_inbox (workspace_id, recipient_id, status, sent_at, id)
  index messages_thread (workspace_id, thread_id, sent_at, id)
  index messages_expiry (recipient_id, status, expires_at) -- Expired questions, in all workspaces.
  index messages_undelivered (workspace_id, sent_at) where "status" = 'unread' and "delivered_at" is null
  ending index
`;

/** It has the number and name of the last migration that it replaces, so that databases made by those open as they are. */
export const baseline: Migration = {
  number: 16,
  name: 'machine',
  tables: TABLES,
  up: (db, engine) => createTables(db, engine, TABLES),
};
