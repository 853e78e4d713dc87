import { z } from 'zod';
import { EVENT_CATEGORIES } from '../storage/journal.ts';
import type { Database } from '../storage/schema-rows.ts';
import { count, flag, idOf, json, matches, oneOf, type RowRule, type RowRules, rowRule, sha256 } from '../storage/transfer/row-rules.ts';
import { approvalRows } from './core/approvals/rows.ts';
import { grantRows } from './core/capabilities/rows.ts';
import { deviceRows } from './core/devices/rows.ts';
import { identityRows } from './core/identity/rows.ts';
import { settingRows } from './core/settings/rows.ts';
import { cycleRows } from './cycle/rows.ts';
import { instanceRows } from './review/instances/rows.ts';
import { reviewRows } from './review/reviews/rows.ts';
import { workflowRows } from './workflow/workflows/rows.ts';
import { worktreeRows } from './workflow/worktrees/rows.ts';

const strings = json(z.array(z.string()));
const list = json(z.array(z.unknown()));
const record = json(z.record(z.string(), z.unknown()));

type Of<T extends keyof Database> = Database[T];

/** Imports approved definitions as not approved, because nobody on this server has seen them. */
const asSeen: RowRule = (row) => {
  if (row.approved === null) return { row };
  const unapproved = { ...row, approved: null, approved_hash: null, approved_at: null, approved_by: null };
  return { row: row.seen === null ? null : unapproved, leftOut: 'approved_definitions' };
};

/**
 * The rules that decide which rows of each table an import accepts. Features whose rows grant access, or control something
 * outside the store, have their own `rows.ts`. For rows of other features, the import only checks that they can be read.
 */
export const IMPORT_RULES: RowRules = {
  ...identityRows,
  ...deviceRows,
  ...approvalRows,
  ...grantRows,
  ...cycleRows,
  ...worktreeRows,
  ...instanceRows,
  ...reviewRows,
  ...workflowRows,
  ...settingRows,

  events: rowRule<Of<'events'>>({ seq: count, category: oneOf(...EVENT_CATEGORIES), payload: record, hash: sha256, time: count }),
  journal_heads: rowRule<Of<'journal_heads'>>({ seq: count, hash: sha256 }),
  journal_anchors: rowRule<Of<'journal_anchors'>>({ seq: count, hash: sha256, time: count }),

  agents: rowRule<Of<'agents'>>({
    id: idOf('ag'),
    token_id: matches(/^(tok_\w{26})?$/, 'the id of a token, or nothing'),
    status: oneOf('online', 'offline', 'busy'),
    role: oneOf('coordinator', 'worker'),
    capabilities: strings,
    metadata: record,
  }),
  agent_sessions: rowRule<Of<'agent_sessions'>>({ id: idOf('ses') }),
  agent_spans: rowRule<Of<'agent_spans'>>({ payload_sha256: sha256 }),
  announcements: rowRule<Of<'announcements'>>({ id: idOf('ann'), paths: strings }),
  asks: rowRule<Of<'asks'>>({ id: idOf('ask'), paths: strings }),
  claims: rowRule<Of<'claims'>>({ id: idOf('claim'), paths: strings, symbols: strings, mode: oneOf('exclusive', 'shared'), ttl_minutes: count }),
  client_runs: rowRule<Of<'client_runs'>>({ automatic: flag, compacted: flag, denials: record, found: record }),
  file_marks: rowRule<Of<'file_marks'>>({ source: oneOf('task', 'snapshot', 'claim') }),
  handoffs: rowRule<Of<'handoffs'>>({
    id: idOf('handoff'),
    task_ids: strings,
    claim_ids: strings,
    taken_task_ids: strings,
    taken_claim_ids: strings,
    status: oneOf('offered', 'accepted'),
  }),
  local_worktrees: rowRule<Of<'local_worktrees'>>({
    id: idOf('wt'),
    dirty_files: list,
    unpushed_files: list,
    diff_hashes: json(z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())])),
  }),
  machines: rowRule<Of<'machines'>>({ token_id: idOf('tok') }),
  messages: rowRule<Of<'messages'>>({
    id: idOf('msg'),
    thread_id: idOf('thr'),
    reply_to_id: idOf('msg'),
    body: json(z.union([z.string(), z.record(z.string(), z.unknown())])),
    status: oneOf('unread', 'read', 'archived'),
  }),
  model_prices: rowRule<Of<'model_prices'>>({ version: count, input: count, cached_input: count, cache_write: count, cache_write_1h: count, output: count }),
  notes: rowRule<Of<'notes'>>({ id: idOf('note') }),
  overlap_items: rowRule<Of<'overlap_items'>>({ analysed: record, files: list, revision: count }),
  overlap_postings: rowRule<Of<'overlap_postings'>>(),
  overlap_state: rowRule<Of<'overlap_state'>>({ settings: record, revision: count }),
  overlap_terms: rowRule<Of<'overlap_terms'>>(),
  overlap_vectors: rowRule<Of<'overlap_vectors'>>(),
  overlap_warnings: rowRule<Of<'overlap_warnings'>>({ id: idOf('warn'), matches: list }),
  parallel_audits: rowRule<Of<'parallel_audits'>>({ id: idOf('audit'), conflicts: list }),
  preflight_checks: rowRule<Of<'preflight_checks'>>({ id: idOf('chk'), candidates: list }),
  registered_repos: rowRule<Of<'registered_repos'>>({ token_id: idOf('tok'), position: count }),
  repo_commits: rowRule<Of<'repo_commits'>>({ position: count }),
  repositories: rowRule<Of<'repositories'>>({ id: idOf('rp'), path: matches(/^[^\p{Cc}]{1,1000}$/u, 'a path') }),
  scope_verdicts: rowRule<Of<'scope_verdicts'>>({ id: idOf('vrd'), verdict: oneOf('distinct', 'duplicate'), candidates: list }),
  session_activity: rowRule<Of<'session_activity'>>({ session_id: idOf('ses'), id: idOf('act') }),
  session_contexts: rowRule<Of<'session_contexts'>>({ id: idOf('ctx'), files_touched: strings, next_actions: strings, blockers: strings, task_ids: strings }),
  tasks: rowRule<Of<'tasks'>>({ id: idOf('task'), target_files: strings, status: oneOf('planned', 'active', 'blocked', 'completed', 'cancelled') }),
  upstream_pins: rowRule<Of<'upstream_pins'>>(
    { kind: oneOf('tool', 'prompt'), approved: record, approved_hash: sha256, seen: record, seen_hash: sha256 },
    asSeen,
  ),
  upstreams: rowRule<Of<'upstreams'>>({ facts: record }),
  workflow_templates: rowRule<Of<'workflow_templates'>>({ id: idOf('tmpl'), definition: record }),
  workstreams: rowRule<Of<'workstreams'>>({ id: idOf('wst'), auto_created: flag }),
};
