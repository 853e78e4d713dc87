// Written by `npm run schema` from the migrations. Do not edit.
import type { EngineKind } from './engine.ts';

export const SCHEMA: Record<EngineKind, string> = {
  sqlite: `CREATE TABLE "agent_sessions" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "token_id" text not null, "agent_type" text, "agent_name" text, "provider" text, "model" text, "repo" text, "branch" text, "started_at" bigint not null, "last_seen_at" bigint not null, "ended_at" bigint, constraint "agent_sessions_key" primary key ("workspace_id", "id"))
CREATE TABLE "agent_spans" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "session_id" text, "agent_type" text, "source" text not null, "model" text, "provider" text, "input_tokens" bigint not null, "cached_input_tokens" bigint not null, "cache_creation_tokens" bigint not null, "cache_creation_1h_tokens" bigint not null, "output_tokens" bigint not null, "reasoning_tokens" bigint not null, "total_tokens" bigint not null, "cost_micros" bigint, "price_version" text, "submitted_micros" bigint, "cost_mismatch" integer not null, "verified" integer not null, "payload_sha256" text not null, "ingested_at" bigint not null, constraint "agent_spans_key" primary key ("workspace_id", "id"))
CREATE TABLE "agents" ("workspace_id" text not null, "id" text not null, "name" text not null, "runtime" text not null, "role" text not null, "status" text not null, "capabilities" text not null, "current_task_id" text, "workspace_path" text, "metadata" text, "developer_id" text, "token_id" text not null, "actor" text not null, "registered_at" bigint not null, "last_seen_at" bigint not null, "updated_at" bigint not null, constraint "agents_key" primary key ("workspace_id", "id"))
CREATE TABLE "announcements" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "session_id" text, "message" text not null, "repo" text, "paths" text not null, "created_at" bigint not null, constraint "announcements_key" primary key ("workspace_id", "id"))
CREATE TABLE "approvals" ("workspace_id" text not null, "id" text not null, "noun" text not null, "name" text not null, "server" text, "arguments" text, "arguments_sha256" text not null, "grant_id" text not null, "token_id" text not null, "developer_id" text, "actor" text not null, "request_id" text not null, "status" text not null, "created_at" bigint not null, "deadline_at" bigint not null, "decided_at" bigint, "decided_by" text, "decided_through" text, "reason" text, "used_at" bigint, constraint "approvals_key" primary key ("workspace_id", "id"))
CREATE TABLE "asks" ("workspace_id" text not null, "id" text not null, "from_developer_id" text not null, "from_actor" text not null, "session_id" text, "to_developer_id" text not null, "to_agent_type" text, "message" text not null, "repo" text, "paths" text not null, "created_at" bigint not null, "due_at" bigint not null, "delivered_at" bigint, "read_at" bigint, "answer" text, "answered_at" bigint, "answer_delivered_at" bigint, constraint "asks_key" primary key ("workspace_id", "id"))
CREATE TABLE "call_rounds" ("workspace_id" text not null, "token_sha256" text not null, "token_id" text not null, "noun" text not null, "name" text not null, "arguments_sha256" text not null, "grant_id" text not null, "approval_id" text, "request_state" text, "expires_at" bigint not null, constraint "call_rounds_key" primary key ("workspace_id", "token_sha256"))
CREATE TABLE "checkpoints" ("workspace_id" text not null, "task_id" text not null, "sequence" integer not null, "id" text not null, "type" text not null, "summary" text not null, "detail" text, "files_changed" text not null, "agent_id" text, "actor" text not null, "created_at" bigint not null, constraint "checkpoints_key" primary key ("workspace_id", "task_id", "sequence"))
CREATE TABLE "claims" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "actor" text not null, "agent_type" text, "session_id" text, "repo" text not null, "paths" text not null, "symbols" text not null, "mode" text not null, "reason" text, "ttl_minutes" integer not null, "created_at" bigint not null, "expires_at" bigint not null, "released_at" bigint, "expired_at" bigint, constraint "claims_key" primary key ("workspace_id", "id"))
CREATE TABLE "client_runs" ("workspace_id" text not null, "actor" text not null, "client_session" text not null, "client" text not null, "developer_id" text not null, "session_id" text, "automatic" integer not null, "repo" text, "folder" text, "compacted" integer not null, "handoffs_told" text, "told_at_stop" text, "denials" text not null, "found" text not null, "started_at" bigint not null, "last_seen_at" bigint not null, "ended_at" bigint, constraint "client_runs_key" primary key ("workspace_id", "actor", "client_session"))
CREATE TABLE "cycle_handoffs" ("workspace_id" text not null, "cycle" text not null, "number" integer not null, "target" text not null, "producer" text not null, "payload" text not null, "created_at" bigint not null, constraint "cycle_handoffs_key" primary key ("workspace_id", "cycle", "number"))
CREATE TABLE "cycles" ("workspace_id" text not null, "id" text not null, "repository" text not null, "cycle_id" text not null, "feature" text not null, "mode" text not null, "status" text not null, "machine" text not null, "config" text, "phase" text not null, "active_role" text not null, "lock_role" text not null, "lock_token" text not null, "lock_acquired_at" bigint not null, "reworks" integer not null, "started_by" text not null, "created_at" bigint not null, "updated_at" bigint not null, "completed_at" bigint, "ended_at" bigint, "ended_by" text, "reason" text, "revision" integer not null, "mirrored" integer not null, constraint "cycles_key" primary key ("workspace_id", "id"), constraint "cycles_named" unique ("repository", "cycle_id"))
CREATE TABLE "developers" ("workspace_id" text not null, "id" text not null, "name" text not null, "role" text not null, "visibility" text not null, "created_at" bigint not null, constraint "developers_key" primary key ("workspace_id", "id"), constraint "developers_name" unique ("workspace_id", "name"))
CREATE TABLE "device_grants" ("id" text primary key, "user_code" text not null, "device_code_hash" text not null unique, "machine_name" text not null, "agents" text not null, "source" text not null, "status" text not null, "workspace_id" text, "developer_id" text, "created_at" bigint not null, "expires_at" bigint not null, "polled_at" bigint, "interval_seconds" integer not null, "decided_at" bigint)
CREATE TABLE "events" ("workspace_id" text not null, "seq" bigint not null, "category" text not null, "kind" text not null, "actor" text not null, "subject" text, "session" text, "payload" text not null, "time" bigint not null, "hash" text not null, constraint "events_key" primary key ("workspace_id", "seq")) without rowid
CREATE TABLE "file_marks" ("workspace_id" text not null, "path" text not null, "source" text not null, "source_id" text not null, "developer_id" text not null, "repo" text, "action" text, "label" text, "marked_at" bigint not null, "expires_at" bigint, constraint "file_marks_key" primary key ("workspace_id", "path", "source", "source_id"))
CREATE TABLE "grants" ("workspace_id" text not null, "id" text not null, "subject" text not null, "action" text not null, "scope" text not null, "max_uses" integer, "uses" integer not null, "expires_at" bigint, "revision" integer not null, "granted_by" text not null, "created_at" bigint not null, "revoked_at" bigint, "revoked_by" text, "recent" text, constraint "grants_key" primary key ("workspace_id", "id"))
CREATE TABLE "handoffs" ("workspace_id" text not null, "id" text not null, "from_developer_id" text not null, "session_id" text, "to_developer_id" text not null, "to_agent_type" text, "message" text not null, "task_ids" text not null, "claim_ids" text not null, "repo" text, "branch" text, "context_id" text, "status" text not null, "created_at" bigint not null, "accepted_at" bigint, "taken_task_ids" text not null, "taken_claim_ids" text not null, constraint "handoffs_key" primary key ("workspace_id", "id"))
CREATE TABLE "instance_relationships" ("workspace_id" text not null, "parent_instance" text not null, "child_instance" text not null, "relationship_type" text not null, "review_iteration" integer not null, "outcome" text, "created_at" bigint not null, "ended_at" bigint, constraint "instance_relationships_key" primary key ("workspace_id", "parent_instance", "child_instance", "relationship_type"), constraint "instance_relationships_iteration" unique ("workspace_id", "parent_instance", "relationship_type", "review_iteration"))
CREATE TABLE "instances" ("workspace_id" text not null, "id" text not null, "type" text not null, "status" text not null, "agent" text not null, "developer_id" text, "agent_id" text not null, "token_id" text, "machine" text not null, "repository" text not null, "worktree_path" text not null, "branch_name" text not null, "base_branch" text not null, "base_commit" text, "session_name" text not null, "session_kind" text, "pid" integer, "process_start" bigint, "issue_number" integer, "prompt" text not null, "parent_instance_id" text, "review_iteration" integer, "failed_reviews" integer not null, "pr_number" integer, "pr_url" text, "news" text, "status_reason" text, "kept_reason" text, "backup_ref" text, "created_by" text not null, "created_at" bigint not null, "updated_at" bigint not null, "last_activity" bigint not null, "ended_at" bigint, "step" text, "step_until" bigint, "step_by" text, "step_data" text, "extra_reviews" integer default 0 not null, constraint "instances_key" primary key ("workspace_id", "id"))
CREATE TABLE "journal_anchors" ("workspace_id" text primary key, "seq" bigint not null, "hash" text not null, "time" bigint not null)
CREATE TABLE "journal_growth" ("workspace_id" text not null, "token_id" text not null, "day" text not null, "events" bigint not null, constraint "journal_growth_key" primary key ("workspace_id", "token_id", "day"))
CREATE TABLE "journal_heads" ("workspace_id" text primary key, "seq" bigint not null, "hash" text not null)
CREATE TABLE "local_worktrees" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "repo" text not null, "branch" text not null, "worktree" text not null, "head" text, "dirty_files" text not null, "unpushed_files" text not null, "diff_hashes" text not null, "session_id" text not null, "updated_at" bigint not null, constraint "local_worktrees_key" primary key ("workspace_id", "id"), constraint "local_worktrees_place" unique ("workspace_id", "repo", "developer_id", "branch", "worktree"))
CREATE TABLE "machine_permissions" ("workspace_id" text not null, "developer_id" text not null, "given_at" bigint not null, "given_by" text not null, constraint "machine_permissions_key" primary key ("workspace_id", "developer_id"))
CREATE TABLE "machines" ("workspace_id" text not null, "token_id" text not null, "developer_id" text not null, "companion_version" text, "last_heartbeat_at" bigint not null, constraint "machines_key" primary key ("workspace_id", "token_id"))
CREATE TABLE "messages" ("workspace_id" text not null, "id" text not null, "thread_id" text not null, "reply_to_id" text, "sender_id" text not null, "recipient_id" text not null, "message_type" text not null, "subject" text, "body" text not null, "priority" text not null, "status" text not null, "workflow_id" text, "task_id" text, "actor" text not null, "sent_at" bigint not null, "delivered_at" bigint, "read_at" bigint, "archived_at" bigint, "answered_at" bigint, "expires_at" bigint, constraint "messages_key" primary key ("workspace_id", "id"))
CREATE TABLE "model_prices" ("workspace_id" text not null, "version" integer not null, "model" text not null, "input" bigint, "cached_input" bigint, "cache_write" bigint, "cache_write_1h" bigint, "output" bigint, "set_by" text not null, "set_at" bigint not null, constraint "model_prices_key" primary key ("workspace_id", "version"))
CREATE TABLE "notes" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "kind" text not null, "title" text not null, "body" text, "task_id" text, "workstream_id" text, "session_id" text, "created_at" bigint not null, constraint "notes_key" primary key ("workspace_id", "id"))
CREATE TABLE "overlap_items" ("workspace_id" text not null, "id" text not null, "number" integer not null, "kind" text not null, "owner_id" text not null, "title" text not null, "scope" text, "action" text, "component" text, "task_type" text, "status" text not null, "repo" text, "analysed" text not null, "prefix" text, "files" text not null, "revision" bigint not null, "updated_at" bigint not null, "closed_at" bigint, constraint "overlap_items_key" primary key ("workspace_id", "id"))
CREATE TABLE "overlap_postings" ("workspace_id" text not null, "term" text not null, "item" integer not null, "weight" integer not null, constraint "overlap_postings_key" primary key ("workspace_id", "term", "item")) without rowid
CREATE TABLE "overlap_state" ("workspace_id" text primary key, "revision" bigint not null, "items" integer not null, "next_number" integer not null, "settings" text)
CREATE TABLE "overlap_terms" ("workspace_id" text not null, "term" text not null, "items" integer not null, constraint "overlap_terms_key" primary key ("workspace_id", "term")) without rowid
CREATE TABLE "overlap_vectors" ("workspace_id" text not null, "item_id" text not null, "model" text not null, "vector" text not null, constraint "overlap_vectors_key" primary key ("workspace_id", "item_id", "model"))
CREATE TABLE "overlap_warnings" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "kind" text not null, "title" text not null, "subject_id" text, "check_id" text, "level" text not null, "matches" text not null, "status" text not null, "reason" text, "created_at" bigint not null, "resolved_at" bigint, constraint "overlap_warnings_key" primary key ("workspace_id", "id"))
CREATE TABLE "page_tickets" ("workspace_id" text not null, "hash" text primary key, "token_id" text not null, "path" text not null, "expires_at" bigint not null)
CREATE TABLE "parallel_audits" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "compared" integer not null, "conflicts" text not null, "created_at" bigint not null, constraint "parallel_audits_key" primary key ("workspace_id", "id"))
CREATE TABLE "preflight_checks" ("workspace_id" text not null, "id" text not null, "kind" text not null, "developer_id" text not null, "title" text not null, "planned_id" text, "warning_id" text, "candidates" text not null, "created_at" bigint not null, "used_at" bigint, constraint "preflight_checks_key" primary key ("workspace_id", "id"))
CREATE TABLE "psk_failures" ("workspace_id" text not null, "repository" text not null, "role" text not null, "token_id" text not null, "failures" integer not null, "last_at" bigint not null, constraint "psk_failures_key" primary key ("workspace_id", "repository", "role", "token_id"))
CREATE TABLE "registered_repos" ("workspace_id" text not null, "token_id" text not null, "position" integer not null, "developer_id" text not null, "repo" text not null, "path" text, "branch" text, constraint "registered_repos_key" primary key ("workspace_id", "token_id", "position"))
CREATE TABLE "repo_commits" ("workspace_id" text not null, "worktree_id" text not null, "position" integer not null, "repo" text not null, "sha" text not null, "title" text, constraint "repo_commits_key" primary key ("workspace_id", "worktree_id", "position"))
CREATE TABLE "repositories" ("workspace_id" text not null, "id" text not null, "path" text not null, "name" text not null, "created_at" bigint not null, "updated_at" bigint not null, constraint "repositories_key" primary key ("workspace_id", "id"), constraint "repositories_path" unique ("workspace_id", "path"))
CREATE TABLE "review_feedback" ("workspace_id" text not null, "id" text not null, "review_instance" text not null, "coding_instance" text not null, "review_iteration" integer not null, "feedback" text not null, "feedback_type" text not null, "priority" text not null, "actionable_items" text not null, "git_commit_hash" text, "delivered" text, "reason" text, "created_at" bigint not null, "step" text, "step_until" bigint, "step_by" text, constraint "review_feedback_key" primary key ("workspace_id", "id"), constraint "review_feedback_once" unique ("workspace_id", "review_instance"))
CREATE TABLE "role_sessions" ("workspace_id" text not null, "id" text not null, "token_sha256" text not null, "psk_mark" text not null, "repository" text not null, "role" text not null, "token_id" text not null, "actor" text not null, "created_at" bigint not null, "last_seen" bigint not null, "expires_at" bigint not null, "closed_at" bigint, "closed_by" text, constraint "role_sessions_key" primary key ("workspace_id", "id"), constraint "role_sessions_token" unique ("workspace_id", "token_sha256"))
CREATE TABLE "schema_migrations" ("number" integer primary key, "name" text not null, "applied_at" bigint not null)
CREATE TABLE "scope_verdicts" ("workspace_id" text not null, "id" text not null, "check_id" text not null, "warning_id" text, "developer_id" text not null, "subject_id" text not null, "verdict" text not null, "candidates" text not null, "confirmation_reason" text, "created_at" bigint not null, constraint "scope_verdicts_key" primary key ("workspace_id", "id"))
CREATE TABLE "session_activity" ("workspace_id" text not null, "session_id" text not null, "id" text not null, "text" text not null, "created_at" bigint not null, constraint "session_activity_key" primary key ("workspace_id", "session_id", "id"))
CREATE TABLE "session_contexts" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "session_id" text, "repo" text not null, "branch" text, "title" text not null, "summary" text not null, "files_touched" text not null, "next_actions" text not null, "blockers" text not null, "task_ids" text not null, "published_at" bigint not null, "expires_at" bigint not null, "superseded_by" text, "revoked_at" bigint, constraint "session_contexts_key" primary key ("workspace_id", "id"))
CREATE TABLE "settings" ("workspace_id" text not null, "key" text not null, "value" text not null, "updated_at" bigint not null, "updated_by" text not null, constraint "settings_key" primary key ("workspace_id", "key"))
CREATE TABLE "signin_links" ("workspace_id" text not null, "hash" text primary key, "developer_id" text not null, "created_at" bigint not null, "expires_at" bigint not null, "used_at" bigint)
CREATE TABLE "tasks" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "actor" text not null, "session_id" text, "workstream_id" text, "title" text not null, "task_type" text not null, "status" text not null, "description" text, "scope" text, "action" text, "component" text, "priority" text not null, "target_files" text not null, "repo" text, "result_summary" text, "summary" text, "reason" text, "created_at" bigint not null, "started_at" bigint, "updated_at" bigint not null, "closed_at" bigint, constraint "tasks_key" primary key ("workspace_id", "id"))
CREATE TABLE "tokens" ("workspace_id" text not null, "id" text not null, "hash" text not null unique, "kind" text not null, "developer_id" text, "agent_type" text, "instance_id" text, "label" text not null, "created_by" text not null, "created_at" bigint not null, "expires_at" bigint, "last_used_at" bigint, "revoked_at" bigint, "proof_hash" text, "previous_hash" text, "previous_ends_at" bigint, constraint "tokens_key" primary key ("workspace_id", "id"))
CREATE TABLE "upstream_pins" ("workspace_id" text not null, "server" text not null, "kind" text not null, "name" text not null, "exposed" text not null, "approved" text, "approved_hash" text, "approved_at" bigint, "approved_by" text, "seen" text, "seen_hash" text, "seen_at" bigint not null, constraint "upstream_pins_key" primary key ("workspace_id", "server", "kind", "name"))
CREATE TABLE "upstreams" ("workspace_id" text not null, "name" text not null, "facts" text not null, "first_seen_at" bigint not null, constraint "upstreams_key" primary key ("workspace_id", "name"))
CREATE TABLE "workflow_dependencies" ("workspace_id" text not null, "workflow_id" text not null, "task_id" text not null, "depends_on" text not null, constraint "workflow_dependencies_key" primary key ("workspace_id", "task_id", "depends_on"))
CREATE TABLE "workflow_tasks" ("workspace_id" text not null, "id" text not null, "workflow_id" text not null, "name" text not null, "description" text not null, "sequence" integer not null, "parallel_group" text, "estimated_complexity" text, "files" text not null, "capabilities" text not null, "status" text not null, "open_dependencies" integer not null, "plan" text, "context" text, "outcome" text, "outcome_detail" text, "error" text, "assigned_agent_id" text, "claimed_at" bigint, "fence" integer not null, "completed_by" text, "worktree_id" text, "question_id" text, "resume_status" text, "last_checkpoint" integer not null, "indexed" integer not null, "created_at" bigint not null, "updated_at" bigint not null, "started_at" bigint, "finished_at" bigint, constraint "workflow_tasks_key" primary key ("workspace_id", "id"))
CREATE TABLE "workflow_templates" ("workspace_id" text not null, "id" text not null, "name" text not null, "description" text, "definition" text not null, "from_workflow_id" text, "actor" text not null, "created_at" bigint not null, constraint "workflow_templates_key" primary key ("workspace_id", "id"), constraint "workflow_templates_name" unique ("workspace_id", "name"))
CREATE TABLE "workflows" ("workspace_id" text not null, "id" text not null, "name" text not null, "status" text not null, "status_reason" text, "source_type" text not null, "source_ref" text, "source_content" text not null, "repository_path" text not null, "plan" text, "max_parallel_tasks" integer not null, "auto_create_workspaces" integer not null, "developer_id" text, "actor" text not null, "created_at" bigint not null, "updated_at" bigint not null, "started_at" bigint, "finished_at" bigint, constraint "workflows_key" primary key ("workspace_id", "id"))
CREATE TABLE "workspaces" ("id" text primary key, "name" text not null unique, "created_at" bigint not null)
CREATE TABLE "workstreams" ("workspace_id" text not null, "id" text not null, "developer_id" text not null, "session_id" text, "title" text not null, "description" text, "status" text not null, "auto_created" integer not null, "result_summary" text, "reason" text, "created_at" bigint not null, "updated_at" bigint not null, "closed_at" bigint, constraint "workstreams_key" primary key ("workspace_id", "id"))
CREATE TABLE "worktrees" ("workspace_id" text not null, "id" text not null, "workflow_id" text not null, "status" text not null, "path" text not null, "branch" text not null, "base_branch" text, "base_commit" text, "merge_commit" text, "repository_path" text not null, "made_by_server" integer not null, "step" text, "step_until" bigint, "task_id" text, "fence" integer, "kept_reason" text, "actor" text not null, "created_at" bigint not null, "updated_at" bigint not null, "closed_at" bigint, constraint "worktrees_key" primary key ("workspace_id", "id"))
CREATE INDEX "agent_sessions_open" on "agent_sessions" ("workspace_id", "last_seen_at") where "ended_at" is null
CREATE INDEX "agent_sessions_seen" on "agent_sessions" ("workspace_id", "last_seen_at")
CREATE INDEX "agent_spans_payload" on "agent_spans" ("workspace_id", "developer_id", "payload_sha256", "id")
CREATE INDEX "agent_spans_time" on "agent_spans" ("workspace_id", "ingested_at")
CREATE INDEX "agents_actor" on "agents" ("workspace_id", "actor", "last_seen_at")
CREATE INDEX "agents_listed" on "agents" ("workspace_id", "status", "id")
CREATE INDEX "agents_silent" on "agents" ("status", "last_seen_at")
CREATE INDEX "announcements_time" on "announcements" ("workspace_id", "created_at")
CREATE INDEX "approvals_due" on "approvals" ("status", "deadline_at")
CREATE INDEX approvals_ending on "approvals" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "approvals_same_call" on "approvals" ("workspace_id", "token_id", "arguments_sha256", "status")
CREATE INDEX asks_ending on "asks" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "asks_fresh_answers" on "asks" ("workspace_id", "from_developer_id") where "answered_at" is not null and "answer_delivered_at" is null
CREATE INDEX "asks_from" on "asks" ("workspace_id", "from_developer_id", "due_at")
CREATE INDEX "asks_open" on "asks" ("workspace_id", "due_at") where "answered_at" is null
CREATE INDEX "asks_to" on "asks" ("workspace_id", "to_developer_id", "due_at") where "answered_at" is null
CREATE INDEX "call_rounds_due" on "call_rounds" ("expires_at")
CREATE INDEX claims_ending on "claims" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "claims_standing" on "claims" ("workspace_id", "expires_at") where "released_at" is null and "expired_at" is null
CREATE INDEX "client_runs_seen" on "client_runs" ("last_seen_at")
CREATE INDEX "client_runs_session" on "client_runs" ("workspace_id", "session_id")
CREATE UNIQUE INDEX cycles_active on cycles (repository) where status = 'active'
CREATE INDEX "cycles_of_repository" on "cycles" ("repository", "id")
CREATE INDEX cycles_unmirrored on cycles (repository, id) where mirrored < revision
CREATE UNIQUE INDEX device_grants_code on device_grants (user_code) where status = 'pending'
CREATE INDEX "device_grants_expiry" on "device_grants" ("expires_at")
CREATE INDEX "events_actor" on "events" ("workspace_id", "actor", "seq")
CREATE INDEX "events_feedback" on "events" ("workspace_id", "seq") where "category" = 'feedback'
CREATE INDEX "events_subject" on "events" ("workspace_id", "subject", "seq")
CREATE INDEX "file_marks_source" on "file_marks" ("workspace_id", "source", "source_id")
CREATE INDEX "grants_subject_action" on "grants" ("workspace_id", "subject", "action")
CREATE INDEX handoffs_ending on "handoffs" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "handoffs_from" on "handoffs" ("workspace_id", "from_developer_id", "status", "created_at")
CREATE INDEX "handoffs_status" on "handoffs" ("workspace_id", "status", "created_at")
CREATE INDEX "handoffs_to" on "handoffs" ("workspace_id", "to_developer_id", "status", "created_at")
CREATE INDEX "instance_relationships_child" on "instance_relationships" ("workspace_id", "child_instance")
CREATE INDEX "instances_ended" on "instances" ("workspace_id", "ended_at")
CREATE INDEX instances_ending on "instances" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "instances_made" on "instances" ("workspace_id", "created_at", "id")
CREATE UNIQUE INDEX instances_place on instances (machine, worktree_path) where ended_at is null
CREATE INDEX instances_running on instances (workspace_id, id) where ended_at is null
CREATE INDEX "instances_status" on "instances" ("workspace_id", "status")
CREATE INDEX instances_under_way on instances (step_until) where step is not null
CREATE INDEX "local_worktrees_age" on "local_worktrees" ("workspace_id", "developer_id", "updated_at")
CREATE INDEX "local_worktrees_graph" on "local_worktrees" ("workspace_id", "repo", "updated_at")
CREATE INDEX messages_ending on "messages" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "messages_expiry" on "messages" ("recipient_id", "status", "expires_at")
CREATE INDEX "messages_inbox" on "messages" ("workspace_id", "recipient_id", "status", "sent_at", "id")
CREATE INDEX "messages_thread" on "messages" ("workspace_id", "thread_id", "sent_at", "id")
CREATE INDEX "messages_undelivered" on "messages" ("workspace_id", "sent_at") where "status" = 'unread' and "delivered_at" is null
CREATE INDEX "notes_session" on "notes" ("workspace_id", "session_id", "created_at", "id") where "session_id" is not null
CREATE INDEX "notes_time" on "notes" ("workspace_id", "created_at")
CREATE INDEX "overlap_items_closed" on "overlap_items" ("workspace_id", "closed_at") where "closed_at" is not null
CREATE UNIQUE INDEX "overlap_items_number" on "overlap_items" ("workspace_id", "number")
CREATE INDEX "overlap_items_prefix" on "overlap_items" ("workspace_id", "prefix") where "prefix" is not null
CREATE INDEX "overlap_items_revision" on "overlap_items" ("workspace_id", "revision")
CREATE INDEX overlap_warnings_ending on "overlap_warnings" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "overlap_warnings_escalated" on "overlap_warnings" ("workspace_id", "id") where "level" = 'escalated'
CREATE INDEX "overlap_warnings_open" on "overlap_warnings" ("workspace_id", "id") where "resolved_at" is null
CREATE INDEX "overlap_warnings_subject" on "overlap_warnings" ("workspace_id", "subject_id")
CREATE INDEX "page_tickets_expiry" on "page_tickets" ("workspace_id", "expires_at")
CREATE INDEX "preflight_checks_latest" on "preflight_checks" ("workspace_id", "developer_id", "kind", "created_at")
CREATE INDEX "review_feedback_for" on "review_feedback" ("workspace_id", "coding_instance", "id")
CREATE INDEX review_feedback_under_way on review_feedback (step_until) where step is not null
CREATE INDEX "role_sessions_by_expiry" on "role_sessions" ("expires_at")
CREATE INDEX "role_sessions_of_repository" on "role_sessions" ("workspace_id", "repository", "id")
CREATE INDEX "scope_verdicts_warning" on "scope_verdicts" ("workspace_id", "warning_id")
CREATE INDEX "session_contexts_standing" on "session_contexts" ("workspace_id", "expires_at") where superseded_by is null and revoked_at is null
CREATE INDEX tasks_ending on "tasks" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "tasks_open" on "tasks" ("workspace_id", "updated_at", "id") where "closed_at" is null
CREATE INDEX "tasks_owner" on "tasks" ("workspace_id", "developer_id", "updated_at", "id")
CREATE INDEX "tasks_session" on "tasks" ("workspace_id", "session_id", "started_at", "id") where "session_id" is not null
CREATE INDEX "tasks_status" on "tasks" ("workspace_id", "status", "updated_at", "id")
CREATE INDEX "tasks_unplaced" on "tasks" ("workspace_id", "id") where "workstream_id" is null
CREATE INDEX "tasks_updated" on "tasks" ("workspace_id", "updated_at", "id")
CREATE INDEX "tasks_workstream" on "tasks" ("workspace_id", "workstream_id", "status")
CREATE INDEX tokens_ending on "tokens" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "tokens_expiring" on "tokens" ("workspace_id", "expires_at") where "revoked_at" is null and "kind" = 'agent'
CREATE INDEX "tokens_live" on "tokens" ("workspace_id", "id") where "revoked_at" is null
CREATE INDEX "tokens_of_agents" on "tokens" ("workspace_id", "id") where "kind" = 'agent'
CREATE UNIQUE INDEX "tokens_previous_hash" on "tokens" ("previous_hash") where "previous_hash" is not null
CREATE INDEX "workflow_dependencies_all" on "workflow_dependencies" ("workspace_id", "workflow_id")
CREATE INDEX "workflow_dependents" on "workflow_dependencies" ("workspace_id", "depends_on", "task_id")
CREATE INDEX "workflow_tasks_claimed" on "workflow_tasks" ("workspace_id", "workflow_id") where "assigned_agent_id" is not null
CREATE INDEX workflow_tasks_ending on "workflow_tasks" (lower(substr(id, length(id) - 3)), workspace_id, id)
CREATE INDEX "workflow_tasks_group" on "workflow_tasks" ("workspace_id", "workflow_id", "parallel_group", "sequence")
CREATE INDEX "workflow_tasks_holder" on "workflow_tasks" ("workspace_id", "assigned_agent_id")
CREATE INDEX "workflow_tasks_indexed" on "workflow_tasks" ("indexed", "workspace_id")
CREATE INDEX "workflow_tasks_name" on "workflow_tasks" ("workspace_id", "workflow_id", "name")
CREATE INDEX "workflow_tasks_next" on "workflow_tasks" ("workspace_id", "workflow_id", "status", "open_dependencies", "sequence", "name")
CREATE INDEX "workflow_tasks_sequence" on "workflow_tasks" ("workspace_id", "workflow_id", "sequence", "status")
CREATE INDEX "workflow_tasks_worktree" on "workflow_tasks" ("workspace_id", "worktree_id") where "worktree_id" is not null
CREATE INDEX "workflows_repository" on "workflows" ("workspace_id", "repository_path", "id")
CREATE INDEX "workflows_status" on "workflows" ("workspace_id", "status", "id")
CREATE INDEX "workstreams_owner" on "workstreams" ("workspace_id", "developer_id", "status")
CREATE INDEX "workstreams_status" on "workstreams" ("workspace_id", "status", "updated_at")
CREATE INDEX "worktrees_path" on "worktrees" ("workspace_id", "path")
CREATE INDEX "worktrees_step" on "worktrees" ("step_until")
CREATE INDEX "worktrees_task" on "worktrees" ("workspace_id", "task_id")
CREATE INDEX "worktrees_workflow" on "worktrees" ("workspace_id", "workflow_id", "status")
`,
  postgres: `agent_sessions.workspace_id text not null
agent_sessions.id text not null
agent_sessions.developer_id text not null
agent_sessions.token_id text not null
agent_sessions.agent_type text
agent_sessions.agent_name text
agent_sessions.provider text
agent_sessions.model text
agent_sessions.repo text
agent_sessions.branch text
agent_sessions.started_at bigint not null
agent_sessions.last_seen_at bigint not null
agent_sessions.ended_at bigint
agent_spans.workspace_id text not null
agent_spans.id text not null
agent_spans.developer_id text not null
agent_spans.session_id text
agent_spans.agent_type text
agent_spans.source text not null
agent_spans.model text
agent_spans.provider text
agent_spans.input_tokens bigint not null
agent_spans.cached_input_tokens bigint not null
agent_spans.cache_creation_tokens bigint not null
agent_spans.cache_creation_1h_tokens bigint not null
agent_spans.output_tokens bigint not null
agent_spans.reasoning_tokens bigint not null
agent_spans.total_tokens bigint not null
agent_spans.cost_micros bigint
agent_spans.price_version text
agent_spans.submitted_micros bigint
agent_spans.cost_mismatch integer not null
agent_spans.verified integer not null
agent_spans.payload_sha256 text not null
agent_spans.ingested_at bigint not null
agents.workspace_id text not null
agents.id text not null
agents.name text not null
agents.runtime text not null
agents.role text not null
agents.status text not null
agents.capabilities text not null
agents.current_task_id text
agents.workspace_path text
agents.metadata text
agents.developer_id text
agents.token_id text not null
agents.actor text not null
agents.registered_at bigint not null
agents.last_seen_at bigint not null
agents.updated_at bigint not null
announcements.workspace_id text not null
announcements.id text not null
announcements.developer_id text not null
announcements.session_id text
announcements.message text not null
announcements.repo text
announcements.paths text not null
announcements.created_at bigint not null
approvals.workspace_id text not null
approvals.id text not null
approvals.noun text not null
approvals.name text not null
approvals.server text
approvals.arguments text
approvals.arguments_sha256 text not null
approvals.grant_id text not null
approvals.token_id text not null
approvals.developer_id text
approvals.actor text not null
approvals.request_id text not null
approvals.status text not null
approvals.created_at bigint not null
approvals.deadline_at bigint not null
approvals.decided_at bigint
approvals.decided_by text
approvals.decided_through text
approvals.reason text
approvals.used_at bigint
asks.workspace_id text not null
asks.id text not null
asks.from_developer_id text not null
asks.from_actor text not null
asks.session_id text
asks.to_developer_id text not null
asks.to_agent_type text
asks.message text not null
asks.repo text
asks.paths text not null
asks.created_at bigint not null
asks.due_at bigint not null
asks.delivered_at bigint
asks.read_at bigint
asks.answer text
asks.answered_at bigint
asks.answer_delivered_at bigint
call_rounds.workspace_id text not null
call_rounds.token_sha256 text not null
call_rounds.token_id text not null
call_rounds.noun text not null
call_rounds.name text not null
call_rounds.arguments_sha256 text not null
call_rounds.grant_id text not null
call_rounds.approval_id text
call_rounds.request_state text
call_rounds.expires_at bigint not null
checkpoints.workspace_id text not null
checkpoints.task_id text not null
checkpoints.sequence integer not null
checkpoints.id text not null
checkpoints.type text not null
checkpoints.summary text not null
checkpoints.detail text
checkpoints.files_changed text not null
checkpoints.agent_id text
checkpoints.actor text not null
checkpoints.created_at bigint not null
claims.workspace_id text not null
claims.id text not null
claims.developer_id text not null
claims.actor text not null
claims.agent_type text
claims.session_id text
claims.repo text not null
claims.paths text not null
claims.symbols text not null
claims.mode text not null
claims.reason text
claims.ttl_minutes integer not null
claims.created_at bigint not null
claims.expires_at bigint not null
claims.released_at bigint
claims.expired_at bigint
client_runs.workspace_id text not null
client_runs.actor text not null
client_runs.client_session text not null
client_runs.client text not null
client_runs.developer_id text not null
client_runs.session_id text
client_runs.automatic integer not null
client_runs.repo text
client_runs.folder text
client_runs.compacted integer not null
client_runs.handoffs_told text
client_runs.told_at_stop text
client_runs.denials text not null
client_runs.found text not null
client_runs.started_at bigint not null
client_runs.last_seen_at bigint not null
client_runs.ended_at bigint
cycle_handoffs.workspace_id text not null
cycle_handoffs.cycle text not null
cycle_handoffs.number integer not null
cycle_handoffs.target text not null
cycle_handoffs.producer text not null
cycle_handoffs.payload text not null
cycle_handoffs.created_at bigint not null
cycles.workspace_id text not null
cycles.id text not null
cycles.repository text not null
cycles.cycle_id text not null
cycles.feature text not null
cycles.mode text not null
cycles.status text not null
cycles.machine text not null
cycles.config text
cycles.phase text not null
cycles.active_role text not null
cycles.lock_role text not null
cycles.lock_token text not null
cycles.lock_acquired_at bigint not null
cycles.reworks integer not null
cycles.started_by text not null
cycles.created_at bigint not null
cycles.updated_at bigint not null
cycles.completed_at bigint
cycles.ended_at bigint
cycles.ended_by text
cycles.reason text
cycles.revision integer not null
cycles.mirrored integer not null
developers.workspace_id text not null
developers.id text not null
developers.name text not null
developers.role text not null
developers.visibility text not null
developers.created_at bigint not null
device_grants.id text not null
device_grants.user_code text not null
device_grants.device_code_hash text not null
device_grants.machine_name text not null
device_grants.agents text not null
device_grants.source text not null
device_grants.status text not null
device_grants.workspace_id text
device_grants.developer_id text
device_grants.created_at bigint not null
device_grants.expires_at bigint not null
device_grants.polled_at bigint
device_grants.interval_seconds integer not null
device_grants.decided_at bigint
events.workspace_id text not null
events.seq bigint not null
events.category text not null
events.kind text not null
events.actor text not null
events.subject text
events.session text
events.payload text not null
events.time bigint not null
events.hash text not null
file_marks.workspace_id text not null
file_marks.path text not null
file_marks.source text not null
file_marks.source_id text not null
file_marks.developer_id text not null
file_marks.repo text
file_marks.action text
file_marks.label text
file_marks.marked_at bigint not null
file_marks.expires_at bigint
grants.workspace_id text not null
grants.id text not null
grants.subject text not null
grants.action text not null
grants.scope text not null
grants.max_uses integer
grants.uses integer not null
grants.expires_at bigint
grants.revision integer not null
grants.granted_by text not null
grants.created_at bigint not null
grants.revoked_at bigint
grants.revoked_by text
grants.recent text
handoffs.workspace_id text not null
handoffs.id text not null
handoffs.from_developer_id text not null
handoffs.session_id text
handoffs.to_developer_id text not null
handoffs.to_agent_type text
handoffs.message text not null
handoffs.task_ids text not null
handoffs.claim_ids text not null
handoffs.repo text
handoffs.branch text
handoffs.context_id text
handoffs.status text not null
handoffs.created_at bigint not null
handoffs.accepted_at bigint
handoffs.taken_task_ids text not null
handoffs.taken_claim_ids text not null
instance_relationships.workspace_id text not null
instance_relationships.parent_instance text not null
instance_relationships.child_instance text not null
instance_relationships.relationship_type text not null
instance_relationships.review_iteration integer not null
instance_relationships.outcome text
instance_relationships.created_at bigint not null
instance_relationships.ended_at bigint
instances.workspace_id text not null
instances.id text not null
instances.type text not null
instances.status text not null
instances.agent text not null
instances.developer_id text
instances.agent_id text not null
instances.token_id text
instances.machine text not null
instances.repository text not null
instances.worktree_path text not null
instances.branch_name text not null
instances.base_branch text not null
instances.base_commit text
instances.session_name text not null
instances.session_kind text
instances.pid integer
instances.process_start bigint
instances.issue_number integer
instances.prompt text not null
instances.parent_instance_id text
instances.review_iteration integer
instances.failed_reviews integer not null
instances.pr_number integer
instances.pr_url text
instances.news text
instances.status_reason text
instances.kept_reason text
instances.backup_ref text
instances.created_by text not null
instances.created_at bigint not null
instances.updated_at bigint not null
instances.last_activity bigint not null
instances.ended_at bigint
instances.step text
instances.step_until bigint
instances.step_by text
instances.step_data text
instances.extra_reviews integer not null default 0
journal_anchors.workspace_id text not null
journal_anchors.seq bigint not null
journal_anchors.hash text not null
journal_anchors.time bigint not null
journal_growth.workspace_id text not null
journal_growth.token_id text not null
journal_growth.day text not null
journal_growth.events bigint not null
journal_heads.workspace_id text not null
journal_heads.seq bigint not null
journal_heads.hash text not null
local_worktrees.workspace_id text not null
local_worktrees.id text not null
local_worktrees.developer_id text not null
local_worktrees.repo text not null
local_worktrees.branch text not null
local_worktrees.worktree text not null
local_worktrees.head text
local_worktrees.dirty_files text not null
local_worktrees.unpushed_files text not null
local_worktrees.diff_hashes text not null
local_worktrees.session_id text not null
local_worktrees.updated_at bigint not null
machine_permissions.workspace_id text not null
machine_permissions.developer_id text not null
machine_permissions.given_at bigint not null
machine_permissions.given_by text not null
machines.workspace_id text not null
machines.token_id text not null
machines.developer_id text not null
machines.companion_version text
machines.last_heartbeat_at bigint not null
messages.workspace_id text not null
messages.id text not null
messages.thread_id text not null
messages.reply_to_id text
messages.sender_id text not null
messages.recipient_id text not null
messages.message_type text not null
messages.subject text
messages.body text not null
messages.priority text not null
messages.status text not null
messages.workflow_id text
messages.task_id text
messages.actor text not null
messages.sent_at bigint not null
messages.delivered_at bigint
messages.read_at bigint
messages.archived_at bigint
messages.answered_at bigint
messages.expires_at bigint
model_prices.workspace_id text not null
model_prices.version integer not null
model_prices.model text not null
model_prices.input bigint
model_prices.cached_input bigint
model_prices.cache_write bigint
model_prices.cache_write_1h bigint
model_prices.output bigint
model_prices.set_by text not null
model_prices.set_at bigint not null
notes.workspace_id text not null
notes.id text not null
notes.developer_id text not null
notes.kind text not null
notes.title text not null
notes.body text
notes.task_id text
notes.workstream_id text
notes.session_id text
notes.created_at bigint not null
overlap_items.workspace_id text not null
overlap_items.id text not null
overlap_items.number integer not null
overlap_items.kind text not null
overlap_items.owner_id text not null
overlap_items.title text not null
overlap_items.scope text
overlap_items.action text
overlap_items.component text
overlap_items.task_type text
overlap_items.status text not null
overlap_items.repo text
overlap_items.analysed text not null
overlap_items.prefix text
overlap_items.files text not null
overlap_items.revision bigint not null
overlap_items.updated_at bigint not null
overlap_items.closed_at bigint
overlap_postings.workspace_id text not null
overlap_postings.term text not null
overlap_postings.item integer not null
overlap_postings.weight integer not null
overlap_state.workspace_id text not null
overlap_state.revision bigint not null
overlap_state.items integer not null
overlap_state.next_number integer not null
overlap_state.settings text
overlap_terms.workspace_id text not null
overlap_terms.term text not null
overlap_terms.items integer not null
overlap_vectors.workspace_id text not null
overlap_vectors.item_id text not null
overlap_vectors.model text not null
overlap_vectors.vector text not null
overlap_warnings.workspace_id text not null
overlap_warnings.id text not null
overlap_warnings.developer_id text not null
overlap_warnings.kind text not null
overlap_warnings.title text not null
overlap_warnings.subject_id text
overlap_warnings.check_id text
overlap_warnings.level text not null
overlap_warnings.matches text not null
overlap_warnings.status text not null
overlap_warnings.reason text
overlap_warnings.created_at bigint not null
overlap_warnings.resolved_at bigint
page_tickets.workspace_id text not null
page_tickets.hash text not null
page_tickets.token_id text not null
page_tickets.path text not null
page_tickets.expires_at bigint not null
parallel_audits.workspace_id text not null
parallel_audits.id text not null
parallel_audits.developer_id text not null
parallel_audits.compared integer not null
parallel_audits.conflicts text not null
parallel_audits.created_at bigint not null
preflight_checks.workspace_id text not null
preflight_checks.id text not null
preflight_checks.kind text not null
preflight_checks.developer_id text not null
preflight_checks.title text not null
preflight_checks.planned_id text
preflight_checks.warning_id text
preflight_checks.candidates text not null
preflight_checks.created_at bigint not null
preflight_checks.used_at bigint
psk_failures.workspace_id text not null
psk_failures.repository text not null
psk_failures.role text not null
psk_failures.token_id text not null
psk_failures.failures integer not null
psk_failures.last_at bigint not null
registered_repos.workspace_id text not null
registered_repos.token_id text not null
registered_repos.position integer not null
registered_repos.developer_id text not null
registered_repos.repo text not null
registered_repos.path text
registered_repos.branch text
repo_commits.workspace_id text not null
repo_commits.worktree_id text not null
repo_commits.position integer not null
repo_commits.repo text not null
repo_commits.sha text not null
repo_commits.title text
repositories.workspace_id text not null
repositories.id text not null
repositories.path text not null
repositories.name text not null
repositories.created_at bigint not null
repositories.updated_at bigint not null
review_feedback.workspace_id text not null
review_feedback.id text not null
review_feedback.review_instance text not null
review_feedback.coding_instance text not null
review_feedback.review_iteration integer not null
review_feedback.feedback text not null
review_feedback.feedback_type text not null
review_feedback.priority text not null
review_feedback.actionable_items text not null
review_feedback.git_commit_hash text
review_feedback.delivered text
review_feedback.reason text
review_feedback.created_at bigint not null
review_feedback.step text
review_feedback.step_until bigint
review_feedback.step_by text
role_sessions.workspace_id text not null
role_sessions.id text not null
role_sessions.token_sha256 text not null
role_sessions.psk_mark text not null
role_sessions.repository text not null
role_sessions.role text not null
role_sessions.token_id text not null
role_sessions.actor text not null
role_sessions.created_at bigint not null
role_sessions.last_seen bigint not null
role_sessions.expires_at bigint not null
role_sessions.closed_at bigint
role_sessions.closed_by text
schema_migrations.number integer not null
schema_migrations.name text not null
schema_migrations.applied_at bigint not null
scope_verdicts.workspace_id text not null
scope_verdicts.id text not null
scope_verdicts.check_id text not null
scope_verdicts.warning_id text
scope_verdicts.developer_id text not null
scope_verdicts.subject_id text not null
scope_verdicts.verdict text not null
scope_verdicts.candidates text not null
scope_verdicts.confirmation_reason text
scope_verdicts.created_at bigint not null
session_activity.workspace_id text not null
session_activity.session_id text not null
session_activity.id text not null
session_activity.text text not null
session_activity.created_at bigint not null
session_contexts.workspace_id text not null
session_contexts.id text not null
session_contexts.developer_id text not null
session_contexts.session_id text
session_contexts.repo text not null
session_contexts.branch text
session_contexts.title text not null
session_contexts.summary text not null
session_contexts.files_touched text not null
session_contexts.next_actions text not null
session_contexts.blockers text not null
session_contexts.task_ids text not null
session_contexts.published_at bigint not null
session_contexts.expires_at bigint not null
session_contexts.superseded_by text
session_contexts.revoked_at bigint
settings.workspace_id text not null
settings.key text not null
settings.value text not null
settings.updated_at bigint not null
settings.updated_by text not null
signin_links.workspace_id text not null
signin_links.hash text not null
signin_links.developer_id text not null
signin_links.created_at bigint not null
signin_links.expires_at bigint not null
signin_links.used_at bigint
tasks.workspace_id text not null
tasks.id text not null
tasks.developer_id text not null
tasks.actor text not null
tasks.session_id text
tasks.workstream_id text
tasks.title text not null
tasks.task_type text not null
tasks.status text not null
tasks.description text
tasks.scope text
tasks.action text
tasks.component text
tasks.priority text not null
tasks.target_files text not null
tasks.repo text
tasks.result_summary text
tasks.summary text
tasks.reason text
tasks.created_at bigint not null
tasks.started_at bigint
tasks.updated_at bigint not null
tasks.closed_at bigint
tokens.workspace_id text not null
tokens.id text not null
tokens.hash text not null
tokens.kind text not null
tokens.developer_id text
tokens.agent_type text
tokens.instance_id text
tokens.label text not null
tokens.created_by text not null
tokens.created_at bigint not null
tokens.expires_at bigint
tokens.last_used_at bigint
tokens.revoked_at bigint
tokens.proof_hash text
tokens.previous_hash text
tokens.previous_ends_at bigint
upstream_pins.workspace_id text not null
upstream_pins.server text not null
upstream_pins.kind text not null
upstream_pins.name text not null
upstream_pins.exposed text not null
upstream_pins.approved text
upstream_pins.approved_hash text
upstream_pins.approved_at bigint
upstream_pins.approved_by text
upstream_pins.seen text
upstream_pins.seen_hash text
upstream_pins.seen_at bigint not null
upstreams.workspace_id text not null
upstreams.name text not null
upstreams.facts text not null
upstreams.first_seen_at bigint not null
workflow_dependencies.workspace_id text not null
workflow_dependencies.workflow_id text not null
workflow_dependencies.task_id text not null
workflow_dependencies.depends_on text not null
workflow_tasks.workspace_id text not null
workflow_tasks.id text not null
workflow_tasks.workflow_id text not null
workflow_tasks.name text not null
workflow_tasks.description text not null
workflow_tasks.sequence integer not null
workflow_tasks.parallel_group text
workflow_tasks.estimated_complexity text
workflow_tasks.files text not null
workflow_tasks.capabilities text not null
workflow_tasks.status text not null
workflow_tasks.open_dependencies integer not null
workflow_tasks.plan text
workflow_tasks.context text
workflow_tasks.outcome text
workflow_tasks.outcome_detail text
workflow_tasks.error text
workflow_tasks.assigned_agent_id text
workflow_tasks.claimed_at bigint
workflow_tasks.fence integer not null
workflow_tasks.completed_by text
workflow_tasks.worktree_id text
workflow_tasks.question_id text
workflow_tasks.resume_status text
workflow_tasks.last_checkpoint integer not null
workflow_tasks.indexed integer not null
workflow_tasks.created_at bigint not null
workflow_tasks.updated_at bigint not null
workflow_tasks.started_at bigint
workflow_tasks.finished_at bigint
workflow_templates.workspace_id text not null
workflow_templates.id text not null
workflow_templates.name text not null
workflow_templates.description text
workflow_templates.definition text not null
workflow_templates.from_workflow_id text
workflow_templates.actor text not null
workflow_templates.created_at bigint not null
workflows.workspace_id text not null
workflows.id text not null
workflows.name text not null
workflows.status text not null
workflows.status_reason text
workflows.source_type text not null
workflows.source_ref text
workflows.source_content text not null
workflows.repository_path text not null
workflows.plan text
workflows.max_parallel_tasks integer not null
workflows.auto_create_workspaces integer not null
workflows.developer_id text
workflows.actor text not null
workflows.created_at bigint not null
workflows.updated_at bigint not null
workflows.started_at bigint
workflows.finished_at bigint
workspaces.id text not null
workspaces.name text not null
workspaces.created_at bigint not null
workstreams.workspace_id text not null
workstreams.id text not null
workstreams.developer_id text not null
workstreams.session_id text
workstreams.title text not null
workstreams.description text
workstreams.status text not null
workstreams.auto_created integer not null
workstreams.result_summary text
workstreams.reason text
workstreams.created_at bigint not null
workstreams.updated_at bigint not null
workstreams.closed_at bigint
worktrees.workspace_id text not null
worktrees.id text not null
worktrees.workflow_id text not null
worktrees.status text not null
worktrees.path text not null
worktrees.branch text not null
worktrees.base_branch text
worktrees.base_commit text
worktrees.merge_commit text
worktrees.repository_path text not null
worktrees.made_by_server integer not null
worktrees.step text
worktrees.step_until bigint
worktrees.task_id text
worktrees.fence integer
worktrees.kept_reason text
worktrees.actor text not null
worktrees.created_at bigint not null
worktrees.updated_at bigint not null
worktrees.closed_at bigint
agent_sessions: agent_sessions_key PRIMARY KEY (workspace_id, id)
agent_spans: agent_spans_key PRIMARY KEY (workspace_id, id)
agents: agents_key PRIMARY KEY (workspace_id, id)
announcements: announcements_key PRIMARY KEY (workspace_id, id)
approvals: approvals_key PRIMARY KEY (workspace_id, id)
asks: asks_key PRIMARY KEY (workspace_id, id)
call_rounds: call_rounds_key PRIMARY KEY (workspace_id, token_sha256)
checkpoints: checkpoints_key PRIMARY KEY (workspace_id, task_id, sequence)
claims: claims_key PRIMARY KEY (workspace_id, id)
client_runs: client_runs_key PRIMARY KEY (workspace_id, actor, client_session)
cycle_handoffs: cycle_handoffs_key PRIMARY KEY (workspace_id, cycle, number)
cycles: cycles_key PRIMARY KEY (workspace_id, id)
cycles: cycles_named UNIQUE (repository, cycle_id)
developers: developers_key PRIMARY KEY (workspace_id, id)
developers: developers_name UNIQUE (workspace_id, name)
device_grants: device_grants_device_code_hash_key UNIQUE (device_code_hash)
device_grants: device_grants_pkey PRIMARY KEY (id)
events: events_key PRIMARY KEY (workspace_id, seq)
file_marks: file_marks_key PRIMARY KEY (workspace_id, path, source, source_id)
grants: grants_key PRIMARY KEY (workspace_id, id)
handoffs: handoffs_key PRIMARY KEY (workspace_id, id)
instance_relationships: instance_relationships_iteration UNIQUE (workspace_id, parent_instance, relationship_type, review_iteration)
instance_relationships: instance_relationships_key PRIMARY KEY (workspace_id, parent_instance, child_instance, relationship_type)
instances: instances_key PRIMARY KEY (workspace_id, id)
journal_anchors: journal_anchors_pkey PRIMARY KEY (workspace_id)
journal_growth: journal_growth_key PRIMARY KEY (workspace_id, token_id, day)
journal_heads: journal_heads_pkey PRIMARY KEY (workspace_id)
local_worktrees: local_worktrees_key PRIMARY KEY (workspace_id, id)
local_worktrees: local_worktrees_place UNIQUE (workspace_id, repo, developer_id, branch, worktree)
machine_permissions: machine_permissions_key PRIMARY KEY (workspace_id, developer_id)
machines: machines_key PRIMARY KEY (workspace_id, token_id)
messages: messages_key PRIMARY KEY (workspace_id, id)
model_prices: model_prices_key PRIMARY KEY (workspace_id, version)
notes: notes_key PRIMARY KEY (workspace_id, id)
overlap_items: overlap_items_key PRIMARY KEY (workspace_id, id)
overlap_state: overlap_state_pkey PRIMARY KEY (workspace_id)
overlap_terms: overlap_terms_key PRIMARY KEY (workspace_id, term)
overlap_vectors: overlap_vectors_key PRIMARY KEY (workspace_id, item_id, model)
overlap_warnings: overlap_warnings_key PRIMARY KEY (workspace_id, id)
page_tickets: page_tickets_pkey PRIMARY KEY (hash)
parallel_audits: parallel_audits_key PRIMARY KEY (workspace_id, id)
preflight_checks: preflight_checks_key PRIMARY KEY (workspace_id, id)
psk_failures: psk_failures_key PRIMARY KEY (workspace_id, repository, role, token_id)
registered_repos: registered_repos_key PRIMARY KEY (workspace_id, token_id, "position")
repo_commits: repo_commits_key PRIMARY KEY (workspace_id, worktree_id, "position")
repositories: repositories_key PRIMARY KEY (workspace_id, id)
repositories: repositories_path UNIQUE (workspace_id, path)
review_feedback: review_feedback_key PRIMARY KEY (workspace_id, id)
review_feedback: review_feedback_once UNIQUE (workspace_id, review_instance)
role_sessions: role_sessions_key PRIMARY KEY (workspace_id, id)
role_sessions: role_sessions_token UNIQUE (workspace_id, token_sha256)
schema_migrations: schema_migrations_pkey PRIMARY KEY (number)
scope_verdicts: scope_verdicts_key PRIMARY KEY (workspace_id, id)
session_activity: session_activity_key PRIMARY KEY (workspace_id, session_id, id)
session_contexts: session_contexts_key PRIMARY KEY (workspace_id, id)
settings: settings_key PRIMARY KEY (workspace_id, key)
signin_links: signin_links_pkey PRIMARY KEY (hash)
tasks: tasks_key PRIMARY KEY (workspace_id, id)
tokens: tokens_hash_key UNIQUE (hash)
tokens: tokens_key PRIMARY KEY (workspace_id, id)
upstream_pins: upstream_pins_key PRIMARY KEY (workspace_id, server, kind, name)
upstreams: upstreams_key PRIMARY KEY (workspace_id, name)
workflow_dependencies: workflow_dependencies_key PRIMARY KEY (workspace_id, task_id, depends_on)
workflow_tasks: workflow_tasks_key PRIMARY KEY (workspace_id, id)
workflow_templates: workflow_templates_key PRIMARY KEY (workspace_id, id)
workflow_templates: workflow_templates_name UNIQUE (workspace_id, name)
workflows: workflows_key PRIMARY KEY (workspace_id, id)
workspaces: workspaces_name_key UNIQUE (name)
workspaces: workspaces_pkey PRIMARY KEY (id)
workstreams: workstreams_key PRIMARY KEY (workspace_id, id)
worktrees: worktrees_key PRIMARY KEY (workspace_id, id)
CREATE UNIQUE INDEX agent_sessions_key ON agent_sessions USING btree (workspace_id, id)
CREATE INDEX agent_sessions_open ON agent_sessions USING btree (workspace_id, last_seen_at) WHERE (ended_at IS NULL)
CREATE INDEX agent_sessions_seen ON agent_sessions USING btree (workspace_id, last_seen_at)
CREATE UNIQUE INDEX agent_spans_key ON agent_spans USING btree (workspace_id, id)
CREATE INDEX agent_spans_payload ON agent_spans USING btree (workspace_id, developer_id, payload_sha256, id)
CREATE INDEX agent_spans_time ON agent_spans USING btree (workspace_id, ingested_at)
CREATE INDEX agents_actor ON agents USING btree (workspace_id, actor, last_seen_at)
CREATE UNIQUE INDEX agents_key ON agents USING btree (workspace_id, id)
CREATE INDEX agents_listed ON agents USING btree (workspace_id, status, id)
CREATE INDEX agents_silent ON agents USING btree (status, last_seen_at)
CREATE UNIQUE INDEX announcements_key ON announcements USING btree (workspace_id, id)
CREATE INDEX announcements_time ON announcements USING btree (workspace_id, created_at)
CREATE INDEX approvals_due ON approvals USING btree (status, deadline_at)
CREATE INDEX approvals_ending ON approvals USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE UNIQUE INDEX approvals_key ON approvals USING btree (workspace_id, id)
CREATE INDEX approvals_same_call ON approvals USING btree (workspace_id, token_id, arguments_sha256, status)
CREATE INDEX asks_ending ON asks USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE INDEX asks_fresh_answers ON asks USING btree (workspace_id, from_developer_id) WHERE ((answered_at IS NOT NULL) AND (answer_delivered_at IS NULL))
CREATE INDEX asks_from ON asks USING btree (workspace_id, from_developer_id, due_at)
CREATE UNIQUE INDEX asks_key ON asks USING btree (workspace_id, id)
CREATE INDEX asks_open ON asks USING btree (workspace_id, due_at) WHERE (answered_at IS NULL)
CREATE INDEX asks_to ON asks USING btree (workspace_id, to_developer_id, due_at) WHERE (answered_at IS NULL)
CREATE INDEX call_rounds_due ON call_rounds USING btree (expires_at)
CREATE UNIQUE INDEX call_rounds_key ON call_rounds USING btree (workspace_id, token_sha256)
CREATE UNIQUE INDEX checkpoints_key ON checkpoints USING btree (workspace_id, task_id, sequence)
CREATE INDEX claims_ending ON claims USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE UNIQUE INDEX claims_key ON claims USING btree (workspace_id, id)
CREATE INDEX claims_standing ON claims USING btree (workspace_id, expires_at) WHERE ((released_at IS NULL) AND (expired_at IS NULL))
CREATE UNIQUE INDEX client_runs_key ON client_runs USING btree (workspace_id, actor, client_session)
CREATE INDEX client_runs_seen ON client_runs USING btree (last_seen_at)
CREATE INDEX client_runs_session ON client_runs USING btree (workspace_id, session_id)
CREATE UNIQUE INDEX cycle_handoffs_key ON cycle_handoffs USING btree (workspace_id, cycle, number)
CREATE UNIQUE INDEX cycles_active ON cycles USING btree (repository) WHERE (status = 'active'::text)
CREATE UNIQUE INDEX cycles_key ON cycles USING btree (workspace_id, id)
CREATE UNIQUE INDEX cycles_named ON cycles USING btree (repository, cycle_id)
CREATE INDEX cycles_of_repository ON cycles USING btree (repository, id)
CREATE INDEX cycles_unmirrored ON cycles USING btree (repository, id) WHERE (mirrored < revision)
CREATE UNIQUE INDEX developers_key ON developers USING btree (workspace_id, id)
CREATE UNIQUE INDEX developers_name ON developers USING btree (workspace_id, name)
CREATE UNIQUE INDEX device_grants_code ON device_grants USING btree (user_code) WHERE (status = 'pending'::text)
CREATE UNIQUE INDEX device_grants_device_code_hash_key ON device_grants USING btree (device_code_hash)
CREATE INDEX device_grants_expiry ON device_grants USING btree (expires_at)
CREATE UNIQUE INDEX device_grants_pkey ON device_grants USING btree (id)
CREATE INDEX events_actor ON events USING btree (workspace_id, actor, seq)
CREATE INDEX events_feedback ON events USING btree (workspace_id, seq) WHERE (category = 'feedback'::text)
CREATE UNIQUE INDEX events_key ON events USING btree (workspace_id, seq)
CREATE INDEX events_subject ON events USING btree (workspace_id, subject, seq)
CREATE UNIQUE INDEX file_marks_key ON file_marks USING btree (workspace_id, path, source, source_id)
CREATE INDEX file_marks_source ON file_marks USING btree (workspace_id, source, source_id)
CREATE UNIQUE INDEX grants_key ON grants USING btree (workspace_id, id)
CREATE INDEX grants_subject_action ON grants USING btree (workspace_id, subject, action)
CREATE INDEX handoffs_ending ON handoffs USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE INDEX handoffs_from ON handoffs USING btree (workspace_id, from_developer_id, status, created_at)
CREATE UNIQUE INDEX handoffs_key ON handoffs USING btree (workspace_id, id)
CREATE INDEX handoffs_status ON handoffs USING btree (workspace_id, status, created_at)
CREATE INDEX handoffs_to ON handoffs USING btree (workspace_id, to_developer_id, status, created_at)
CREATE INDEX instance_relationships_child ON instance_relationships USING btree (workspace_id, child_instance)
CREATE UNIQUE INDEX instance_relationships_iteration ON instance_relationships USING btree (workspace_id, parent_instance, relationship_type, review_iteration)
CREATE UNIQUE INDEX instance_relationships_key ON instance_relationships USING btree (workspace_id, parent_instance, child_instance, relationship_type)
CREATE INDEX instances_ended ON instances USING btree (workspace_id, ended_at)
CREATE INDEX instances_ending ON instances USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE UNIQUE INDEX instances_key ON instances USING btree (workspace_id, id)
CREATE INDEX instances_made ON instances USING btree (workspace_id, created_at, id)
CREATE UNIQUE INDEX instances_place ON instances USING btree (machine, worktree_path) WHERE (ended_at IS NULL)
CREATE INDEX instances_running ON instances USING btree (workspace_id, id) WHERE (ended_at IS NULL)
CREATE INDEX instances_status ON instances USING btree (workspace_id, status)
CREATE INDEX instances_under_way ON instances USING btree (step_until) WHERE (step IS NOT NULL)
CREATE UNIQUE INDEX journal_anchors_pkey ON journal_anchors USING btree (workspace_id)
CREATE UNIQUE INDEX journal_growth_key ON journal_growth USING btree (workspace_id, token_id, day)
CREATE UNIQUE INDEX journal_heads_pkey ON journal_heads USING btree (workspace_id)
CREATE INDEX local_worktrees_age ON local_worktrees USING btree (workspace_id, developer_id, updated_at)
CREATE INDEX local_worktrees_graph ON local_worktrees USING btree (workspace_id, repo, updated_at)
CREATE UNIQUE INDEX local_worktrees_key ON local_worktrees USING btree (workspace_id, id)
CREATE UNIQUE INDEX local_worktrees_place ON local_worktrees USING btree (workspace_id, repo, developer_id, branch, worktree)
CREATE UNIQUE INDEX machine_permissions_key ON machine_permissions USING btree (workspace_id, developer_id)
CREATE UNIQUE INDEX machines_key ON machines USING btree (workspace_id, token_id)
CREATE INDEX messages_ending ON messages USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE INDEX messages_expiry ON messages USING btree (recipient_id, status, expires_at)
CREATE INDEX messages_inbox ON messages USING btree (workspace_id, recipient_id, status, sent_at, id)
CREATE UNIQUE INDEX messages_key ON messages USING btree (workspace_id, id)
CREATE INDEX messages_thread ON messages USING btree (workspace_id, thread_id, sent_at, id)
CREATE INDEX messages_undelivered ON messages USING btree (workspace_id, sent_at) WHERE ((status = 'unread'::text) AND (delivered_at IS NULL))
CREATE UNIQUE INDEX model_prices_key ON model_prices USING btree (workspace_id, version)
CREATE UNIQUE INDEX notes_key ON notes USING btree (workspace_id, id)
CREATE INDEX notes_session ON notes USING btree (workspace_id, session_id, created_at, id) WHERE (session_id IS NOT NULL)
CREATE INDEX notes_time ON notes USING btree (workspace_id, created_at)
CREATE INDEX overlap_items_closed ON overlap_items USING btree (workspace_id, closed_at) WHERE (closed_at IS NOT NULL)
CREATE UNIQUE INDEX overlap_items_key ON overlap_items USING btree (workspace_id, id)
CREATE UNIQUE INDEX overlap_items_number ON overlap_items USING btree (workspace_id, number)
CREATE INDEX overlap_items_prefix ON overlap_items USING btree (workspace_id, prefix) WHERE (prefix IS NOT NULL)
CREATE INDEX overlap_items_revision ON overlap_items USING btree (workspace_id, revision)
CREATE UNIQUE INDEX overlap_postings_key ON overlap_postings USING btree (workspace_id, term, item) INCLUDE (weight)
CREATE UNIQUE INDEX overlap_state_pkey ON overlap_state USING btree (workspace_id)
CREATE UNIQUE INDEX overlap_terms_key ON overlap_terms USING btree (workspace_id, term)
CREATE UNIQUE INDEX overlap_vectors_key ON overlap_vectors USING btree (workspace_id, item_id, model)
CREATE INDEX overlap_warnings_ending ON overlap_warnings USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE INDEX overlap_warnings_escalated ON overlap_warnings USING btree (workspace_id, id) WHERE (level = 'escalated'::text)
CREATE UNIQUE INDEX overlap_warnings_key ON overlap_warnings USING btree (workspace_id, id)
CREATE INDEX overlap_warnings_open ON overlap_warnings USING btree (workspace_id, id) WHERE (resolved_at IS NULL)
CREATE INDEX overlap_warnings_subject ON overlap_warnings USING btree (workspace_id, subject_id)
CREATE INDEX page_tickets_expiry ON page_tickets USING btree (workspace_id, expires_at)
CREATE UNIQUE INDEX page_tickets_pkey ON page_tickets USING btree (hash)
CREATE UNIQUE INDEX parallel_audits_key ON parallel_audits USING btree (workspace_id, id)
CREATE UNIQUE INDEX preflight_checks_key ON preflight_checks USING btree (workspace_id, id)
CREATE INDEX preflight_checks_latest ON preflight_checks USING btree (workspace_id, developer_id, kind, created_at)
CREATE UNIQUE INDEX psk_failures_key ON psk_failures USING btree (workspace_id, repository, role, token_id)
CREATE UNIQUE INDEX registered_repos_key ON registered_repos USING btree (workspace_id, token_id, "position")
CREATE UNIQUE INDEX repo_commits_key ON repo_commits USING btree (workspace_id, worktree_id, "position")
CREATE UNIQUE INDEX repositories_key ON repositories USING btree (workspace_id, id)
CREATE UNIQUE INDEX repositories_path ON repositories USING btree (workspace_id, path)
CREATE INDEX review_feedback_for ON review_feedback USING btree (workspace_id, coding_instance, id)
CREATE UNIQUE INDEX review_feedback_key ON review_feedback USING btree (workspace_id, id)
CREATE UNIQUE INDEX review_feedback_once ON review_feedback USING btree (workspace_id, review_instance)
CREATE INDEX review_feedback_under_way ON review_feedback USING btree (step_until) WHERE (step IS NOT NULL)
CREATE INDEX role_sessions_by_expiry ON role_sessions USING btree (expires_at)
CREATE UNIQUE INDEX role_sessions_key ON role_sessions USING btree (workspace_id, id)
CREATE INDEX role_sessions_of_repository ON role_sessions USING btree (workspace_id, repository, id)
CREATE UNIQUE INDEX role_sessions_token ON role_sessions USING btree (workspace_id, token_sha256)
CREATE UNIQUE INDEX schema_migrations_pkey ON schema_migrations USING btree (number)
CREATE UNIQUE INDEX scope_verdicts_key ON scope_verdicts USING btree (workspace_id, id)
CREATE INDEX scope_verdicts_warning ON scope_verdicts USING btree (workspace_id, warning_id)
CREATE UNIQUE INDEX session_activity_key ON session_activity USING btree (workspace_id, session_id, id)
CREATE UNIQUE INDEX session_contexts_key ON session_contexts USING btree (workspace_id, id)
CREATE INDEX session_contexts_standing ON session_contexts USING btree (workspace_id, expires_at) WHERE ((superseded_by IS NULL) AND (revoked_at IS NULL))
CREATE UNIQUE INDEX settings_key ON settings USING btree (workspace_id, key)
CREATE UNIQUE INDEX signin_links_pkey ON signin_links USING btree (hash)
CREATE INDEX tasks_ending ON tasks USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE UNIQUE INDEX tasks_key ON tasks USING btree (workspace_id, id)
CREATE INDEX tasks_open ON tasks USING btree (workspace_id, updated_at, id) WHERE (closed_at IS NULL)
CREATE INDEX tasks_owner ON tasks USING btree (workspace_id, developer_id, updated_at, id)
CREATE INDEX tasks_session ON tasks USING btree (workspace_id, session_id, started_at, id) WHERE (session_id IS NOT NULL)
CREATE INDEX tasks_status ON tasks USING btree (workspace_id, status, updated_at, id)
CREATE INDEX tasks_unplaced ON tasks USING btree (workspace_id, id) WHERE (workstream_id IS NULL)
CREATE INDEX tasks_updated ON tasks USING btree (workspace_id, updated_at, id)
CREATE INDEX tasks_workstream ON tasks USING btree (workspace_id, workstream_id, status)
CREATE INDEX tokens_ending ON tokens USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE INDEX tokens_expiring ON tokens USING btree (workspace_id, expires_at) WHERE ((revoked_at IS NULL) AND (kind = 'agent'::text))
CREATE UNIQUE INDEX tokens_hash_key ON tokens USING btree (hash)
CREATE UNIQUE INDEX tokens_key ON tokens USING btree (workspace_id, id)
CREATE INDEX tokens_live ON tokens USING btree (workspace_id, id) WHERE (revoked_at IS NULL)
CREATE INDEX tokens_of_agents ON tokens USING btree (workspace_id, id) WHERE (kind = 'agent'::text)
CREATE UNIQUE INDEX tokens_previous_hash ON tokens USING btree (previous_hash) WHERE (previous_hash IS NOT NULL)
CREATE UNIQUE INDEX upstream_pins_key ON upstream_pins USING btree (workspace_id, server, kind, name)
CREATE UNIQUE INDEX upstreams_key ON upstreams USING btree (workspace_id, name)
CREATE INDEX workflow_dependencies_all ON workflow_dependencies USING btree (workspace_id, workflow_id)
CREATE UNIQUE INDEX workflow_dependencies_key ON workflow_dependencies USING btree (workspace_id, task_id, depends_on)
CREATE INDEX workflow_dependents ON workflow_dependencies USING btree (workspace_id, depends_on, task_id)
CREATE INDEX workflow_tasks_claimed ON workflow_tasks USING btree (workspace_id, workflow_id) WHERE (assigned_agent_id IS NOT NULL)
CREATE INDEX workflow_tasks_ending ON workflow_tasks USING btree (lower(substr(id, (length(id) - 3))), workspace_id, id)
CREATE INDEX workflow_tasks_group ON workflow_tasks USING btree (workspace_id, workflow_id, parallel_group, sequence)
CREATE INDEX workflow_tasks_holder ON workflow_tasks USING btree (workspace_id, assigned_agent_id)
CREATE INDEX workflow_tasks_indexed ON workflow_tasks USING btree (indexed, workspace_id)
CREATE UNIQUE INDEX workflow_tasks_key ON workflow_tasks USING btree (workspace_id, id)
CREATE INDEX workflow_tasks_name ON workflow_tasks USING btree (workspace_id, workflow_id, name)
CREATE INDEX workflow_tasks_next ON workflow_tasks USING btree (workspace_id, workflow_id, status, open_dependencies, sequence, name)
CREATE INDEX workflow_tasks_sequence ON workflow_tasks USING btree (workspace_id, workflow_id, sequence, status)
CREATE INDEX workflow_tasks_worktree ON workflow_tasks USING btree (workspace_id, worktree_id) WHERE (worktree_id IS NOT NULL)
CREATE UNIQUE INDEX workflow_templates_key ON workflow_templates USING btree (workspace_id, id)
CREATE UNIQUE INDEX workflow_templates_name ON workflow_templates USING btree (workspace_id, name)
CREATE UNIQUE INDEX workflows_key ON workflows USING btree (workspace_id, id)
CREATE INDEX workflows_repository ON workflows USING btree (workspace_id, repository_path, id)
CREATE INDEX workflows_status ON workflows USING btree (workspace_id, status, id)
CREATE UNIQUE INDEX workspaces_name_key ON workspaces USING btree (name)
CREATE UNIQUE INDEX workspaces_pkey ON workspaces USING btree (id)
CREATE UNIQUE INDEX workstreams_key ON workstreams USING btree (workspace_id, id)
CREATE INDEX workstreams_owner ON workstreams USING btree (workspace_id, developer_id, status)
CREATE INDEX workstreams_status ON workstreams USING btree (workspace_id, status, updated_at)
CREATE UNIQUE INDEX worktrees_key ON worktrees USING btree (workspace_id, id)
CREATE INDEX worktrees_path ON worktrees USING btree (workspace_id, path)
CREATE INDEX worktrees_step ON worktrees USING btree (step_until)
CREATE INDEX worktrees_task ON worktrees USING btree (workspace_id, task_id)
CREATE INDEX worktrees_workflow ON worktrees USING btree (workspace_id, workflow_id, status)
`,
};
