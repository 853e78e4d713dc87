import { sql } from 'kysely';
import type { Services } from '../kernel/call.ts';
import type { Feature } from '../kernel/tool.ts';
import { type RetentionRule, retentionSweep, rowsOf } from './core/settings/index.ts';
import { finishedThreads } from './workflow/messages/index.ts';

/** The rules for rows that are deleted `retention.days` after they ended. Work in progress and items that somebody waits for are kept. */
export const RETENTION_RULES: readonly RetentionRule[] = [
  // Approvals with the status `approved` are kept, because the approved call may still be made.
  rowsOf('approvals', (before) => sql`status in ('refused', 'lapsed', 'used') and coalesce(used_at, decided_at, deadline_at) < ${before}`),
  // Agents that were offline for the whole period. If such an agent comes back, it must register again.
  rowsOf('agents', (before) => sql`status = 'offline' and current_task_id is null and last_seen_at < ${before}`),
  finishedThreads,
  rowsOf('claims', (before) => sql`coalesce(released_at, expires_at) < ${before}`),
  // An answer is kept until the person or agent who asked has received it.
  rowsOf('asks', (before) => sql`answered_at < ${before} and answer_delivered_at is not null`),
  rowsOf('announcements', (before) => sql`created_at < ${before}`),
  rowsOf('handoffs', (before) => sql`accepted_at < ${before}`),
  rowsOf(
    'agent_sessions',
    (before) => sql`ended_at < ${before}`,
    (db, workspace, ids) => db.deleteFrom('session_activity').where('workspace_id', '=', workspace).where('session_id', 'in', ids).execute(),
  ),
  // Superseded and revoked contexts have an expiry, too, and are deleted after it.
  rowsOf('session_contexts', (before) => sql`expires_at < ${before}`),
  rowsOf('agent_spans', (before) => sql`ingested_at < ${before}`),
  // Resolved warnings are deleted together with their verdicts. Verdicts without a warning are deleted by the next rule.
  rowsOf(
    'overlap_warnings',
    (before) => sql`resolved_at < ${before}`,
    (db, workspace, ids) => db.deleteFrom('scope_verdicts').where('workspace_id', '=', workspace).where('warning_id', 'in', ids).execute(),
  ),
  rowsOf('scope_verdicts', (before) => sql`warning_id is null and created_at < ${before}`),
  // All audits except the latest one are deleted. The conflicts in the latest audit may still exist.
  rowsOf(
    'parallel_audits',
    (before) =>
      sql`created_at < ${before} and exists (select 1 from parallel_audits as later where later.workspace_id = parallel_audits.workspace_id and later.id > parallel_audits.id)`,
  ),
];

export const retention = (services: Pick<Services, 'store' | 'clock' | 'log'>): Feature => ({
  name: 'retention',
  implementations: [],
  sweeps: [retentionSweep(services, RETENTION_RULES)],
});
