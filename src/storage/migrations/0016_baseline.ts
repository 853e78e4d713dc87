import type { Migration } from '../migrate.ts';
import { createTables } from '../schema-text.ts';

/**
 * All tables of the store, in the language of `schema-text.ts`. Row types with their comments are generated from it (`npm run schema`). The resulting
 * SQL is, to the letter, that of the sixteen migrations it replaces, because a restored file is compared by that text. This is why conditions are
 * quoted, and why some indexes are written as whole statements. The order of a table's indexes matters: if two serve a query equally well, SQLite
 * uses the one created last.
 */
const TABLES = `
table schema_migrations (number)
  number int, name, applied_at time

table events (workspace_id, seq)
  workspace_id, seq bigint
  category 'usage' | 'work' | 'feedback' | 'audit'
  kind, actor, subject?, session?
  payload json -- Canonical JSON. The hash covers exactly this text.
  time time, hash
  without rowid -- Rows are inserted and read in the order of the key, so SQLite needs one tree instead of two.
  index events_feedback (workspace_id, seq) where "category" = 'feedback' -- Contains only feedback, so that other appends are not slower.
  index events_subject (workspace_id, subject, seq)
  index events_actor (workspace_id, actor, seq)

-- The number and hash of each workspace's last event. An append reads only this row. If somebody removes the last events, the row shows that they are missing.
table journal_heads (workspace_id)
  workspace_id, seq bigint, hash

-- The point at which a pruned journal begins: the last deleted event, whose hash was verified before it was deleted.
table journal_anchors (workspace_id)
  workspace_id, seq bigint, hash
  time time -- The time of the last deleted event.

-- The number of events that each token's calls added to the journal in a day. Several servers share the count.
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

-- Developers who may run agents on the server's machine.
table machine_permissions (workspace_id, developer_id)
  workspace_id, developer_id, given_at time, given_by

table tokens (workspace_id, id)
  workspace_id, id
  hash unique -- SHA-256 of the token, hex. The token itself is shown once and never stored.
  kind 'operator' | 'developer' | 'agent' | 'instance' | 'web'
  developer_id?, agent_type?, instance_id?, label, created_by, created_at time, expires_at? time, last_used_at? time, revoked_at? time
  proof_hash? -- Only for browser sign-ins: SHA-256 of a secret. With this secret, a page proves that it runs on the dashboard's own origin.
  previous_hash? -- SHA-256 of the secret before the last rotation, which is accepted until previous_ends_at.
  previous_ends_at? time
  index tokens_of_agents (workspace_id, id) where "kind" = 'agent'
  index tokens_live (workspace_id, id) where "revoked_at" is null
  ending index
  unique index tokens_previous_hash (previous_hash) where "previous_hash" is not null
  index tokens_expiring (workspace_id, expires_at) where "revoked_at" is null and "kind" = 'agent'

table signin_links (hash)
  workspace_id, hash, developer_id, created_at time, expires_at time, used_at? time

-- One-time tickets for signed-in browsers. Each ticket opens one path, for requests in which a page cannot set a header.
table page_tickets (hash)
  workspace_id, hash, token_id, path, expires_at time
  index page_tickets_expiry (workspace_id, expires_at)

-- A machine that requested tokens for its agents. It belongs to nobody until a signed-in person approves it.
table device_grants (id)
  id
  user_code -- Eight letters shown on both screens, for a person to compare.
  device_code_hash unique -- SHA-256 of the code that the machine polls with. The code itself is returned once and never stored.
  machine_name, agents json
  source -- The address that the request came from.
  status 'pending' | 'approved' | 'denied' | 'consumed'
  workspace_id?, developer_id?, created_at time, expires_at time, polled_at? time
  interval_seconds int -- How many seconds the machine must wait between two polls.
  decided_at? time
  create unique index device_grants_code on device_grants (user_code) where status = 'pending'
  index device_grants_expiry (expires_at)

-- One run of an agent's program, from its first hook to its last.
table client_runs (workspace_id, actor, client_session)
  workspace_id, actor
  client_session -- The id that the agent's program gave to the run.
  client, developer_id
  session_id? -- The agent session of the run.
  automatic int -- 1: the server started the session, and ends it when the agent starts its own session.
  repo?, folder?
  compacted int -- 1: the agent's context was compacted, and the server has not yet sent the necessary facts again.
  handoffs_told? -- The newest handoff that the agent was notified about. It is stored here because handoffs have no receipts.
  told_at_stop? -- Hash of the unfinished points that were reported when the agent last tried to stop, so that the same points do not stop it again.
  denials json -- The edits that were denied in the last minute, by claim and path, with their times.
  found json -- The state of the working tree when the run began: hashes of uncommitted files, and the number of unpushed commits on each branch.
  started_at time, last_seen_at time, ended_at? time
  index client_runs_session (workspace_id, session_id)
  index client_runs_seen (last_seen_at)

table grants (workspace_id, id)
  workspace_id, id
  subject -- operator, developer:<id>, token:<id> or instance:<id>.
  action, scope json, max_uses? int, uses int, expires_at? time
  revision int -- Increases with every change to the grant, so that an audit row can show which version of the grant was applied.
  granted_by, created_at time, revoked_at? time, revoked_by?
  recent? json -- The times of the last calls under this grant, oldest first, if its scope has max_per_minute.
  index grants_subject_action (workspace_id, subject, action)

-- Another MCP server that has answered at least once. Stored in the default workspace, because it belongs to the server, not to a team.
table upstreams (workspace_id, name)
  workspace_id, name
  facts json -- What the server reported: protocol revision, capabilities, name, version, and its last list of resources and templates.
  first_seen_at time

-- An approved definition, and the last seen one if it differs.
table upstream_pins (workspace_id, server, kind, name)
  workspace_id, server
  kind 'tool' | 'prompt'
  name -- The server's name for it.
  exposed -- The name under which agents see it. If two definitions want the same name, the first one keeps it.
  approved? json -- Null if the definition was never approved.
  approved_hash?, approved_at? time
  approved_by? -- first-sight if the first definition was approved automatically, otherwise the actor who approved it.
  seen? json -- Null if the server does not list it anymore.
  seen_hash?, seen_at time

-- A call that a person has to approve.
table approvals (workspace_id, id)
  workspace_id, id, noun
  name -- The tool or prompt, or the server of a resource.
  server?
  arguments? json -- Shown to the person who decides, and deleted after the decision.
  arguments_sha256, grant_id, token_id, developer_id?, actor, request_id
  status 'waiting' | 'approved' | 'refused' | 'lapsed' | 'used'
  created_at time, deadline_at time, decided_at? time, decided_by?
  decided_through? -- dashboard, cli, api, or elicitation in the caller's own client.
  reason?, used_at? time
  index approvals_same_call (workspace_id, token_id, arguments_sha256, status) -- Lets a repeated call find its pending approval.
  index approvals_due (status, deadline_at) -- The sweep searches all workspaces.
  ending index

-- A tool call that continues with another request, because the server asked the client for input. Its use of the grant is already counted.
table call_rounds (workspace_id, token_sha256)
  workspace_id, token_sha256, token_id, noun, name, arguments_sha256, grant_id, approval_id?, request_state?, expires_at time
  index call_rounds_due (expires_at)

table cycles (workspace_id, id)
  workspace_id
  id -- The id in the database. cycle_id is the name in the contract, which is unique only within a repository.
  repository, cycle_id, feature, mode
  status 'active' | 'archived' | 'cancelled'
  machine json -- The state machine when the cycle began, because a later change to the configuration must not affect a running cycle.
  config? json -- config.json when the cycle was archived, without PSKs.
  phase, active_role, lock_role
  lock_token -- Stored in plain text, because lock.acquire returns the same token again. It cannot be used without a session of the role.
  lock_acquired_at time
  reworks int -- How often the cycle returned to an earlier phase.
  started_by, created_at time, updated_at time, completed_at? time, ended_at? time, ended_by?, reason?
  revision int -- Increases with every change that must be written to the files. If mirrored is lower, the files are outdated.
  mirrored int
  unique cycles_named (repository, cycle_id)
  create unique index cycles_active on cycles (repository) where status = 'active' -- Across all workspaces, a folder has at most one active cycle.
  index cycles_of_repository (repository, id)
  create index cycles_unmirrored on cycles (repository, id) where mirrored < revision

-- Documents that one role writes for another. The latest one is the current handoff, and the older ones are its history.
table cycle_handoffs (workspace_id, cycle, number)
  workspace_id, cycle, number int, target, producer, payload json, created_at time

-- A session that was opened with the PSK of a role. Only the token that opened the session can use it.
table role_sessions (workspace_id, id)
  workspace_id, id, token_sha256
  psk_mark -- Identifies the PSK that opened the session. If the PSK changes, the session becomes invalid.
  repository, role, token_id, actor, created_at time, last_seen time, expires_at time, closed_at? time, closed_by?
  unique role_sessions_token (workspace_id, token_sha256)
  index role_sessions_of_repository (workspace_id, repository, id)
  index role_sessions_by_expiry (expires_at)

-- Counts the wrong PSKs that one caller sent for one role in one repository. Each one delays the next attempt.
table psk_failures (workspace_id, repository, role, token_id)
  workspace_id
  repository -- The path of the file with the PSKs. If failures were counted by folder, every link to that file would allow more guesses.
  role, token_id, failures int, last_at time

-- One run of an agent that the server started in its own worktree.
table instances (workspace_id, id)
  workspace_id
  id -- For example work-123-a1. Unique in the workspace.
  type 'coding' | 'review' | 'planning'
  status 'started' | 'waiting_review' | 'pr_created' | 'pr_merged' | 'pr_closed' | 'terminated' | 'abandoned'
  agent -- The launcher that started it.
  developer_id? -- The developer for whom the instance works. The team sees its work under this developer. Null in a workspace without developers.
  agent_id -- The id under which the agent is registered (agent_register) and receives messages.
  token_id? -- The token of the agent's process. Null until the process is started.
  machine -- The machine that has the worktree and the agent session. Servers on other machines do not touch the instance.
  repository, worktree_path, branch_name, base_branch, base_commit?, session_name
  session_kind? 'tmux' | 'process'
  pid? int -- The process group. Its start time is stored too, because the system may reuse the pid.
  process_start? bigint, issue_number? int, prompt
  parent_instance_id? -- Only for a review: the instance under review, and the number of the review.
  review_iteration? int
  failed_reviews int -- Counts needs_work verdicts, and review requests that were refused because of the limit.
  pr_number? int, pr_url?
  news? -- News for the agent. If the agent has ended, it is started again with this text as the prompt.
  status_reason? -- Why the agent stopped, or why the worktree was not removed.
  kept_reason?
  backup_ref? -- The git ref that saves the content of the worktree if a person forced its removal.
  created_by, created_at time, updated_at time, last_activity time, ended_at? time
  step? 'worktree' | 'session' | 'restart' | 'ending' | 'pull' | 'issues'
  step_until? time
  step_by? -- The process that runs the step. Null if any process may run it.
  step_data? json -- The parameters of the step.
  extra_reviews int = 0 -- The number of additional reviews that a person allowed after the limit was reached.
  create index instances_under_way on instances (step_until) where step is not null
  create index instances_running on instances (workspace_id, id) where ended_at is null
  create unique index instances_place on instances (machine, worktree_path) where ended_at is null -- Only one instance at a time may work in a folder.
  index instances_status (workspace_id, status)
  index instances_made (workspace_id, created_at, id)
  index instances_ended (workspace_id, ended_at)
  ending index

table instance_relationships (workspace_id, parent_instance, child_instance, relationship_type)
  workspace_id, parent_instance, child_instance
  relationship_type 'spawned_review'
  review_iteration int
  outcome? -- How it ended: the feedback type, approved, timeout or stopped.
  created_at time, ended_at? time
  unique instance_relationships_iteration (workspace_id, parent_instance, relationship_type, review_iteration)
  index instance_relationships_child (workspace_id, child_instance)

-- The full feedback of a review agent to the coding agent.
table review_feedback (workspace_id, id)
  workspace_id, id, review_instance, coding_instance, review_iteration int, feedback
  feedback_type 'needs_work' | 'suggestions' | 'clarification'
  priority 'low' | 'normal' | 'high' | 'urgent'
  actionable_items json
  git_commit_hash? -- The commit that adds the feedback, once it exists. When delivered is merged, the commit is on the coding branch.
  delivered? 'merged' | 'message'
  reason? -- Why the feedback could not be merged.
  created_at time
  step? 'merging' -- Set until the feedback has been delivered.
  step_until? time
  step_by? -- The process that runs the step.
  unique review_feedback_once (workspace_id, review_instance) -- A review submits its verdict once.
  index review_feedback_for (workspace_id, coding_instance, id)
  create index review_feedback_under_way on review_feedback (step_until) where step is not null

-- Settings of a workspace that differ from the default.
table settings (workspace_id, key)
  workspace_id, key, value, updated_at time, updated_by

-- One item of work, such as a task, in the index that finds duplicate work.
table overlap_items (workspace_id, id)
  workspace_id, id
  number int -- A short id, because it is repeated in many rows of overlap_postings.
  kind 'task' | 'workstream' | 'workflow_task'
  owner_id, title, scope?
  action? 'create' | 'modify' | 'remove' | 'fix' | 'audit'
  component?, task_type?
  status 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled'
  repo?
  analysed json -- The extracted terms.
  prefix?, files json
  revision bigint -- Increases with every change in the workspace, so that a process can read only the changed rows.
  updated_at time, closed_at? time
  unique index overlap_items_number (workspace_id, number)
  index overlap_items_revision (workspace_id, revision)
  index overlap_items_closed (workspace_id, closed_at) where "closed_at" is not null
  index overlap_items_prefix (workspace_id, prefix) where "prefix" is not null

-- An inverted index that maps each term to the items that contain it.
table overlap_postings (workspace_id, term, item) include (weight) -- The weight is included because a search reads it with thousands of keys.
  workspace_id, term, item int, weight int
  without rowid

table overlap_terms (workspace_id, term)
  workspace_id, term, items int
  without rowid

table overlap_state (workspace_id)
  workspace_id, revision bigint, items int, next_number int
  settings? json -- The workspace's own settings.

table overlap_vectors (workspace_id, item_id, model)
  workspace_id, item_id, model
  vector -- Base64 of 32-bit floats.

-- A file that is in use, because an open task lists it, a working tree has changes to it, or somebody has claimed it.
table file_marks (workspace_id, path, source, source_id)
  workspace_id, path
  source 'task' | 'snapshot' | 'claim'
  source_id, developer_id, repo?, action?
  label? -- The name shown to people, such as the title of a task or a branch.
  marked_at time, expires_at? time
  index file_marks_source (workspace_id, source, source_id)

table preflight_checks (workspace_id, id)
  workspace_id, id
  kind 'task' | 'workstream'
  developer_id, title
  planned_id? -- The planned task or workstream to start.
  warning_id?
  candidates json -- The candidates for which the agent must decide whether they are duplicates, as they were returned. If empty, no verdict is needed.
  created_at time
  used_at? time -- A check can be used for one start.
  index preflight_checks_latest (workspace_id, developer_id, kind, created_at)

table overlap_warnings (workspace_id, id)
  workspace_id, id, developer_id
  kind 'task' | 'workstream'
  title
  subject_id? -- The work that the warning is about, once that work exists.
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
  actor -- The actor that planned or started the task.
  session_id?
  workstream_id? -- Null only in rows from an older version. The next start of the server adds a value.
  title
  task_type 'feature' | 'bug' | 'refactor' | 'chore' | 'docs' | 'test' | 'spike'
  status 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled'
  description?, scope?
  action? 'create' | 'modify' | 'remove' | 'fix' | 'audit'
  component?
  priority 'low' | 'normal' | 'high' | 'urgent'
  target_files json, repo?, result_summary?, summary?
  reason? -- Why the work was cancelled.
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
  auto_created int -- 1: created by the server as a container for tasks without a workstream.
  result_summary?
  reason? -- Why the work was cancelled.
  created_at time, updated_at time, closed_at? time
  index workstreams_owner (workspace_id, developer_id, status)
  index workstreams_status (workspace_id, status, updated_at)

-- The result of one audit, which compares all running work with each other and with recently finished work.
table parallel_audits (workspace_id, id)
  workspace_id, id, developer_id
  compared int -- How many items were compared.
  conflicts json, created_at time

-- One run of an agent. Its owner never changes.
table agent_sessions (workspace_id, id)
  workspace_id, id, developer_id, token_id, agent_type?, agent_name?, provider?, model?, repo?, branch?, started_at time, last_seen_at time
  ended_at? time
  index agent_sessions_seen (workspace_id, last_seen_at)
  index agent_sessions_open (workspace_id, last_seen_at) where "ended_at" is null

table session_activity (workspace_id, session_id, id)
  workspace_id, session_id, id, text, created_at time

-- A machine is identified by the token of its companion.
table machines (workspace_id, token_id)
  workspace_id, token_id, developer_id, companion_version?, last_heartbeat_at time

table registered_repos (workspace_id, token_id, position)
  workspace_id, token_id
  position int -- The position in the list that the machine sent.
  developer_id, repo, path?, branch?

-- The latest state of one working tree on one branch, as reported by the developer's agents.
table local_worktrees (workspace_id, id)
  workspace_id, id, developer_id, repo
  branch -- Empty if unknown, for example with a detached HEAD. Not null, because it is part of a unique key and no two nulls are equal.
  worktree, head?, dirty_files json, unpushed_files json, diff_hashes json, session_id, updated_at time
  unique local_worktrees_place (workspace_id, repo, developer_id, branch, worktree)
  index local_worktrees_graph (workspace_id, repo, updated_at)
  index local_worktrees_age (workspace_id, developer_id, updated_at)

table repo_commits (workspace_id, worktree_id, position)
  workspace_id, worktree_id
  position int -- The newest commit has the lowest position.
  repo, sha, title?

-- A description of work in progress for the agent that continues it. Outdated rows are kept for audit.
table session_contexts (workspace_id, id)
  workspace_id, id, developer_id, session_id?, repo, branch?, title, summary, files_touched json, next_actions json, blockers json, task_ids json
  published_at time, expires_at time, superseded_by?, revoked_at? time
  index session_contexts_standing (workspace_id, expires_at) where superseded_by is null and revoked_at is null

-- A lease. It is active while it is neither released nor past expires_at.
table claims (workspace_id, id)
  workspace_id, id, developer_id
  actor -- The actor that has the claim, with its session if that is known.
  agent_type?, session_id?, repo, paths json, symbols json
  mode 'exclusive' | 'shared'
  reason?, ttl_minutes int, created_at time, expires_at time, released_at? time
  expired_at? time -- When the expiry was recorded in the journal. The claim itself ended at expires_at.
  index claims_standing (workspace_id, expires_at) where "released_at" is null and "expired_at" is null -- Claims that have ended are not deleted.
  ending index

table announcements (workspace_id, id)
  workspace_id, id, developer_id, session_id?, message, repo?, paths json, created_at time
  index announcements_time (workspace_id, created_at)

table asks (workspace_id, id)
  workspace_id, id, from_developer_id
  from_actor -- The agent that asked the question and receives the answer.
  session_id?, to_developer_id
  to_agent_type? -- Null if any agent of the addressed developer may answer.
  message, repo?, paths json, created_at time, due_at time, delivered_at? time, read_at? time, answer?, answered_at? time, answer_delivered_at? time
  index asks_to (workspace_id, to_developer_id, due_at) where "answered_at" is null -- Every heartbeat runs a query that needs this index.
  index asks_from (workspace_id, from_developer_id, due_at)
  index asks_open (workspace_id, due_at) where "answered_at" is null
  index asks_fresh_answers (workspace_id, from_developer_id) where "answered_at" is not null and "answer_delivered_at" is null
  ending index

table handoffs (workspace_id, id)
  workspace_id, id, from_developer_id, session_id?, to_developer_id, to_agent_type?, message, task_ids json, claim_ids json, repo?, branch?, context_id?
  status 'offered' | 'accepted'
  created_at time, accepted_at? time
  taken_task_ids json -- The offered tasks that were actually transferred to the receiver.
  taken_claim_ids json
  index handoffs_status (workspace_id, status, created_at)
  index handoffs_to (workspace_id, to_developer_id, status, created_at)
  index handoffs_from (workspace_id, from_developer_id, status, created_at)
  ending index

-- A decision or a blocker that the team should know about. Rows never change. A blocker counts as current only for a limited time.
table notes (workspace_id, id)
  workspace_id, id, developer_id
  kind 'decision' | 'blocker'
  title, body?, task_id?, workstream_id?, session_id?, created_at time
  index notes_time (workspace_id, created_at)
  index notes_session (workspace_id, session_id, created_at, id) where "session_id" is not null

-- The number of tokens that one model used. Only the counters, the model name and the hash of the reported data are stored.
table agent_spans (workspace_id, id)
  workspace_id, id, developer_id, session_id?, agent_type?, source, model?, provider?, input_tokens bigint, cached_input_tokens bigint
  cache_creation_tokens bigint, cache_creation_1h_tokens bigint, output_tokens bigint, reasoning_tokens bigint, total_tokens bigint
  cost_micros? bigint -- Calculated in micro-dollars with the prices of price_version. Null if the price is unknown.
  price_version?
  submitted_micros? bigint -- The cost that was submitted for the whole payload. Set only in the first row of the payload.
  cost_mismatch int, verified int, payload_sha256, ingested_at time
  index agent_spans_payload (workspace_id, developer_id, payload_sha256, id) -- With the id, because SQLite would otherwise scan all rows by id.
  index agent_spans_time (workspace_id, ingested_at)

-- A price that the workspace has set for a model. The newest version applies. A version without figures restores the default price.
table model_prices (workspace_id, version)
  workspace_id, version int, model
  input? bigint -- Micro-dollars per million tokens.
  cached_input? bigint, cache_write? bigint, cache_write_1h? bigint, output? bigint, set_by, set_at time

table repositories (workspace_id, id)
  workspace_id, id
  path -- An absolute path on the machine that registered the repository.
  name, created_at time, updated_at time
  unique repositories_path (workspace_id, path)

table agents (workspace_id, id)
  workspace_id, id, name
  runtime 'claude_code' | 'codex' | 'opencode' | 'custom' | 'gemini' | 'cursor'
  role 'coordinator' | 'worker'
  status 'online' | 'offline' | 'busy' -- The last reported status. An agent that has not reported for too long counts as offline.
  capabilities json, current_task_id?, workspace_path?, metadata? json
  developer_id? -- Null if the operator registered the agent.
  token_id, actor, registered_at time
  last_seen_at time -- The leases of all claims of this agent are counted from this time.
  updated_at time
  index agents_silent (status, last_seen_at) -- The sweep searches all workspaces for agents that have stopped reporting.
  index agents_listed (workspace_id, status, id)
  index agents_actor (workspace_id, actor, last_seen_at) -- Hooks look up the agents of their caller after every tool call.

table workflows (workspace_id, id)
  workspace_id, id, name
  status 'planning' | 'ready' | 'in_progress' | 'paused' | 'completed' | 'failed' | 'abandoned'
  status_reason?
  source_type 'prompt' | 'github_issue' | 'linear' | 'jira' | 'custom'
  source_ref?, source_content, repository_path
  plan? json -- Summary, approach, risks, assumptions. Null until a plan exists.
  max_parallel_tasks int, auto_create_workspaces int
  developer_id? -- Null if the operator created the workflow.
  actor, created_at time, updated_at time, started_at? time, finished_at? time
  index workflows_status (workspace_id, status, id)
  index workflows_repository (workspace_id, repository_path, id)

table workflow_tasks (workspace_id, id)
  workspace_id, id, workflow_id, name, description, sequence int, parallel_group?
  estimated_complexity? 'low' | 'medium' | 'high'
  files json, capabilities json
  status 'pending' | 'planning' | 'in_progress' | 'paused' | 'completed' | 'failed' | 'skipped' | 'removed'
  open_dependencies int -- The number of dependencies that are neither completed nor skipped. It is stored so that an index can find the next task.
  plan? json, context? json, outcome?, outcome_detail? json, error?
  assigned_agent_id? -- The agent that has claimed the task. The claim ends if the agent does not report for too long.
  claimed_at? time
  fence int -- Increases with every claim, and whenever a claim is revoked.
  completed_by?, worktree_id?
  question_id? -- The question that a person must answer before the task can continue. After the answer, the task returns to resume_status.
  resume_status? 'planning' | 'in_progress'
  last_checkpoint int
  indexed int -- 0 until the task has been added to the overlap index.
  created_at time, updated_at time, started_at? time, finished_at? time
  index workflow_tasks_next (workspace_id, workflow_id, status, open_dependencies, sequence, name) -- Finds the next of 10,000 tasks without a scan.
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

-- A git worktree. The workflow contract calls it a workspace, but in the database a workspace belongs to a team.
table worktrees (workspace_id, id)
  workspace_id, id, workflow_id
  status 'active' | 'merged' | 'abandoned'
  path, branch, base_branch?, base_commit?, merge_commit?, repository_path
  made_by_server int -- 1: the server created it on disk and may remove it. 0: it belongs to an agent.
  step? 'creating' | 'removing' -- Set during the work on disk. If the process dies, another one finishes or undoes the step after step_until.
  step_until? time
  task_id? -- The worktree was created for the claim of this task that has this fence.
  fence? int
  kept_reason? -- Why the worktree is still on disk although its branch was merged or abandoned.
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
  sender_id -- The id of an agent, or human.
  recipient_id
  message_type 'task_assignment' | 'status_update' | 'query' | 'response' | 'notification'
  subject?
  body json -- A string or an object.
  priority 'low' | 'normal' | 'high' | 'urgent'
  status 'unread' | 'read' | 'archived'
  workflow_id?, task_id?, actor, sent_at time, delivered_at? time, read_at? time, archived_at? time
  answered_at? time -- Only for questions to a person: when the question was answered or became obsolete.
  expires_at? time
  index messages_inbox (workspace_id, recipient_id, status, sent_at, id)
  index messages_thread (workspace_id, thread_id, sent_at, id)
  index messages_expiry (recipient_id, status, expires_at) -- Finds expired questions in all workspaces.
  index messages_undelivered (workspace_id, sent_at) where "status" = 'unread' and "delivered_at" is null
  ending index
`;

/** It has the number and name of the last migration that it replaces, so that databases created by those open without changes. */
export const baseline: Migration = {
  number: 16,
  name: 'machine',
  tables: TABLES,
  up: (db, engine) => createTables(db, engine, TABLES),
};
