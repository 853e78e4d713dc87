import { z } from 'zod';
import { contract, MEMBER_READ, READ, sessionId } from '../../../kernel/contract.ts';
import { questionView } from '../../workflow/messages/contract.ts';
import { claimView } from '../coordination/contract.ts';
import { noteView } from '../notes/contract.ts';
import { match } from '../overlap/contract.ts';
import { contextView, sessionView } from '../sessions/contract.ts';
import { taskView } from '../tasks/contract.ts';
import { usageTotals } from '../usage/contract.ts';

const base = {
  name: 'covibe_team',
  toolset: 'team',
  title: 'The team',
  about: 'state: who does what, and what you should do next. feedback: why your calls were refused. Also an audit and the weekly summary.',
} as const;

const STATUSES = ['planned', 'active', 'blocked', 'completed', 'cancelled'] as const;

/** A short form of a task, because agents that read the state pay for every word. */
const workView = taskView.pick({
  task_id: true,
  title: true,
  task_type: true,
  status: true,
  owner: true,
  mine: true,
  agent: true,
  component: true,
  priority: true,
  workstream_id: true,
  result_summary: true,
  updated_at: true,
});

const workstreamView = z.strictObject({
  workstream_id: z.string(),
  title: z.string(),
  status: z.enum(STATUSES),
  owner: z.string(),
  mine: z.boolean(),
  auto_created: z.boolean(),
  updated_at: z.int(),
});

const warningBrief = z.strictObject({
  warning_id: z.string(),
  title: z.string(),
  developer: z.string(),
  subject_id: z.string().nullable(),
  level: z.enum(['warn', 'escalated']),
  matches: z.array(match.pick({ id: true, title: true, owner: true, status: true, score: true, reason: true })),
  created_at: z.int(),
});

/** One side of a conflict: one of two pieces of work that look alike. */
const side = z.strictObject({ id: z.string(), type: z.string(), title: z.string(), owner: z.string(), status: z.enum(STATUSES) });

export const auditConflict = z.strictObject({
  kind: z.enum(['running', 'repeats_completed', 'historical']).describe('Both running; one running, one recently finished; both finished.'),
  first: side,
  second: side,
  score: z.number(),
  reason: z.string(),
});
export type AuditConflict = z.output<typeof auditConflict>;

const auditView = z.strictObject({ audit_id: z.string(), developer: z.string(), compared: z.int(), conflicts: z.int(), created_at: z.int() });

const nextAction = z.strictObject({ action: z.string(), about: z.string().nullable() });

export const stateShape = {
  active_work: z.array(workView),
  planned_work: z.array(workView),
  recent_completions: z.array(workView),
  active_workstreams: z.array(workstreamView),
  planned_workstreams: z.array(workstreamView),
  risks_decisions: z.array(noteView),
  recent_sessions: z.array(sessionView),
  stale_sessions: z.array(sessionView),
  overlap_warnings: z.array(warningBrief),
  session_contexts: z.array(contextView),
  live_claims: z.array(claimView),
  next_actions: z.array(nextAction),
  latest_parallel_audits: z.array(auditView),
  parallel_audit_conflicts: z.array(auditConflict),
  cut: z.array(z.string()).describe('Sections with more rows than listed.'),
};
export type TeamState = z.output<z.ZodObject<typeof stateShape>>;

export const teamState = contract({
  ...base,
  operation: 'state',
  description: 'Active, planned and finished work of the team, risks and decisions, sessions, overlaps, published contexts, and what you should do next.',
  input: z.strictObject({ session_id: sessionId }),
  output: z.strictObject(stateShape),
});

export const teamFeedback = contract({
  ...base,
  operation: 'feedback',
  description: 'The latest warnings and blocks that your calls received.',
  input: z.strictObject({
    feedback_type: z.enum(['warning', 'block', 'error', 'info']).optional(),
    limit: z.int().min(1).max(100).optional().describe('Default: 20.'),
    session_id: sessionId,
  }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        seq: z.int(),
        type: z.enum(['warning', 'block', 'error', 'info']),
        tool: z.string(),
        code: z.string(),
        message: z.string(),
        required_action: z.string(),
        session_id: z.string().nullable(),
        time: z.int(),
      }),
    ),
  }),
  annotations: READ,
});

const auditOutput = z.strictObject({ audit_id: z.string(), compared: z.int(), left_out: z.int(), conflicts: z.array(auditConflict) });

export const auditParallelWork = contract({
  ...base,
  operation: 'audit_parallel_work',
  description: 'Compares all running and recently completed work and reports pairs that look the same.',
  input: z.strictObject({ session_id: sessionId }),
  output: auditOutput,
});

const summaryInput = { days: z.int().min(1).max(31).optional().describe('How far back. Default: 7 days.') };

export const summaryData = z.strictObject({
  from: z.int(),
  to: z.int(),
  markdown: z.string(),
  completed: z.array(z.strictObject({ id: z.string(), title: z.string(), owner: z.string(), result_summary: z.string().nullable(), time: z.int() })),
  planned: z.array(workView),
  active: z.array(workView),
  blockers: z.array(noteView),
  decisions: z.array(noteView),
  overlap_warnings: z.array(
    z.strictObject({ id: z.string(), kind: z.string(), owner: z.string(), title: z.string().nullable(), outcome: z.string(), time: z.int() }),
  ),
  parallel_audits: z.array(z.strictObject({ id: z.string(), owner: z.string(), compared: z.int(), conflicts: z.int(), time: z.int() })),
  agent_sessions: z.array(sessionView),
  usage: usageTotals,
  events: z.record(z.string(), z.int()).describe('Number of recorded work events of each kind.'),
});
export type SummaryData = z.output<typeof summaryData>;

export const weeklySummary = contract({
  ...base,
  operation: 'generate_weekly_summary',
  description: 'The week as markdown and data, from recorded events: completed, planned and active work, blockers, decisions, overlaps, audits, sessions.',
  input: z.strictObject({ ...summaryInput, session_id: sessionId }),
  output: summaryData,
});

/** The team state in the form that the dashboard shows to people. */
const stateDocument = z.strictObject({
  activeWork: stateShape.active_work,
  plannedWork: stateShape.planned_work,
  recentCompletions: stateShape.recent_completions,
  activeWorkstreams: stateShape.active_workstreams,
  plannedWorkstreams: stateShape.planned_workstreams,
  risksDecisions: stateShape.risks_decisions,
  recentSessions: stateShape.recent_sessions,
  staleSessions: stateShape.stale_sessions,
  overlapWarnings: stateShape.overlap_warnings,
  sessionContexts: stateShape.session_contexts,
  liveClaims: stateShape.live_claims,
  nextActions: stateShape.next_actions,
  latestParallelAudits: stateShape.latest_parallel_audits,
  parallelAuditConflicts: stateShape.parallel_audit_conflicts,
  questions: z.array(questionView).describe('Questions of agents to people, oldest first.'),
  cut: stateShape.cut,
});
export type StateDocument = z.output<typeof stateDocument>;

export const readState = contract({
  ...MEMBER_READ,
  name: 'team.state',
  route: 'GET /api/state',
  title: 'Team state',
  description: 'Everything in covibe_team state, plus questions of agents to people, for the dashboard.',
  input: z.strictObject({}),
  output: stateDocument,
});

export const latestAudit = contract({
  ...MEMBER_READ,
  name: 'team.latest_audit',
  title: 'The latest audit',
  description: 'The latest audit of parallel work, with the current state of its conflicts.',
  input: z.strictObject({}),
  output: z.strictObject({ audit: auditView.nullable(), conflicts: z.array(auditConflict) }),
});

export const auditByHand = contract({
  name: 'team.audit',
  toolset: 'team',
  access: 'member',
  route: 'POST /api/audit',
  title: 'Audit parallel work',
  description: 'Compares all running and recently completed work of the team, and reports pairs that look the same.',
  input: z.strictObject({}),
  output: auditOutput,
});

export const summaryByHand = contract({
  name: 'team.weekly_summary',
  toolset: 'team',
  access: 'member',
  route: 'POST /api/weekly-summary',
  title: 'Weekly summary',
  description: 'The week as markdown and data, for the signed-in developer.',
  input: z.strictObject(summaryInput),
  output: summaryData,
});
