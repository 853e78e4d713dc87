import { type CallContext, record, type WriteContext } from '../../../kernel/call.ts';
import { ok, type Reply, refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper, viewerOf } from '../../core/identity/index.ts';
import { markDelivered } from '../coordination/index.ts';
import { type Finder, likePairs } from '../overlap/index.ts';
import { type ComparedPairs, currentConflicts, latestAudits, settleNext, storeAudit } from './audits.ts';
import { feedbackOf } from './call-feedback.ts';
import {
  auditByHand,
  auditParallelWork,
  latestAudit,
  readState,
  type StateDocument,
  type SummaryData,
  summaryByHand,
  type TeamState,
  teamFeedback,
  teamState,
  weeklySummary,
} from './contract.ts';
import { readQuestions, readTeamState } from './state.ts';
import { summarise } from './summary.ts';

const WEEK = 7;

export function teamTools(finder: Finder): Implementation[] {
  const compare = async (_input: unknown, { principal, reader, workspace, clock, signal }: ReadContext): Promise<ComparedPairs> => {
    callingDeveloper(principal);
    return await likePairs(reader, workspace, finder, clock.now(), { signal });
  };

  return [
    implement(teamState, {
      write: async (tx, _input, ctx) => {
        callingDeveloper(ctx.principal);
        const { waiting, ...state } = await readTeamState(tx.db, tx.workspace, ctx.principal, tx.now, ctx.session);
        // Only the asks that appear in the next actions are marked as delivered. Answers are not, because the next actions do not contain their
        // texts.
        const named = new Set(state.next_actions.map(({ about }) => about));
        await markDelivered(tx, ctx, { waiting: waiting.waiting.filter(({ ask_id }) => named.has(ask_id)), answers: [] });
        return stateReply(state);
      },
    }),
    implement(readState, {
      read: async (_input, { reader, workspace, principal, clock }) => {
        const { waiting: _, ...state } = await readTeamState(reader, workspace, principal, clock.now());
        return ok(documentOf(state, await readQuestions(reader, workspace, principal, clock.now())));
      },
    }),
    implement(teamFeedback, {
      read: async ({ feedback_type, limit = 20 }, { reader, workspace, principal }) => {
        const items = await feedbackOf(reader, workspace, callingDeveloper(principal), feedback_type, limit);
        return ok({ items }, `${items.length} feedback message(s).`);
      },
    }),
    implement(latestAudit, {
      read: async (_input, { reader, workspace, principal }) => {
        const viewer = await viewerOf(reader, principal);
        const [audit = null] = await latestAudits(reader, workspace, viewer);
        return ok({ audit, conflicts: await currentConflicts(reader, workspace, viewer) });
      },
    }),
    implement(auditParallelWork, { prepare: compare, write: async (tx, _input, ctx, found) => await storeAudit(tx, ctx, found) }),
    implement(auditByHand, { prepare: compare, write: async (tx, _input, ctx, found) => await storeAudit(tx, ctx, found) }),
    implement(weeklySummary, { prepare: readWeek, write: async (tx, _input, ctx, summary) => recordSummary(tx, ctx, summary) }),
    implement(summaryByHand, { prepare: readWeek, write: async (tx, _input, ctx, summary) => recordSummary(tx, ctx, summary) }),
  ];
}

const documentOf = (state: TeamState, { questions, cut }: Pick<StateDocument, 'questions' | 'cut'>): StateDocument => ({
  activeWork: state.active_work,
  plannedWork: state.planned_work,
  recentCompletions: state.recent_completions,
  activeWorkstreams: state.active_workstreams,
  plannedWorkstreams: state.planned_workstreams,
  risksDecisions: state.risks_decisions,
  recentSessions: state.recent_sessions,
  staleSessions: state.stale_sessions,
  overlapWarnings: state.overlap_warnings,
  sessionContexts: state.session_contexts,
  liveClaims: state.live_claims,
  nextActions: state.next_actions,
  latestParallelAudits: state.latest_parallel_audits,
  parallelAuditConflicts: state.parallel_audit_conflicts,
  questions,
  cut: [...state.cut, ...cut],
});

/** The reply is a warning if there are stale sessions or parallel work, because the agent must look at them before it takes over work. */
function stateReply(state: TeamState): Reply<TeamState> {
  const unsettled = state.parallel_audit_conflicts.filter(({ kind }) => kind !== 'historical');
  const stale = state.stale_sessions.length;
  if (stale === 0 && unsettled.length === 0) return ok(state, `Active tasks: ${state.active_work.length}. Planned tasks: ${state.planned_work.length}.`);
  const found = [
    stale > 0 ? `${stale} session${stale === 1 ? ' is' : 's are'} stale` : '',
    unsettled.length > 0 ? `${unsettled.length} ${unsettled.length === 1 ? 'pair of work looks' : 'pairs of work look'} the same` : '',
  ].filter(Boolean);
  const next = [
    stale > 0
      ? 'Review the sessions in `data.stale_sessions` before you take over their work. To keep or end one of yours, call covibe_session with operation "heartbeat" or "end" and its session_id.'
      : '',
    unsettled.length > 0 ? settleNext('parallel_audit_conflicts') : '',
  ].filter(Boolean);
  const code = unsettled.length > 0 ? 'PARALLEL_WORK' : 'STALE_SESSIONS';
  return refused('warning', code, `${found.join('; ')}.`, next.join(' '), { ...state });
}

type ReadContext = Pick<CallContext, 'principal' | 'reader' | 'workspace' | 'clock' | 'signal'>;

/** Reads the data of the summary. This must happen outside the write transaction, because it takes a while and would block other writers. */
async function readWeek({ days = WEEK }: { days?: number | undefined }, { principal, reader, workspace, clock }: ReadContext): Promise<SummaryData> {
  callingDeveloper(principal);
  return await summarise(reader, workspace, principal, clock.now(), days);
}

function recordSummary(tx: Tx, ctx: WriteContext, summary: SummaryData): Reply<SummaryData> {
  const { completed, planned, active, blockers, decisions, overlap_warnings, parallel_audits, agent_sessions } = summary;
  const counts = { completed, planned, active, blockers, decisions, overlap_warnings, parallel_audits, agent_sessions };
  record(tx, ctx, {
    category: 'work',
    kind: 'weekly_summary.generated',
    payload: { from: summary.from, to: summary.to, ...Object.fromEntries(Object.entries(counts).map(([key, rows]) => [key, rows.length])) },
  });
  return ok(summary, `${completed.length} completed, ${active.length} active, ${planned.length} planned.`);
}
