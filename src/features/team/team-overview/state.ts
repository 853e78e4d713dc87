import type { Principal } from '../../../kernel/call.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { openQuestions } from '../../workflow/messages/index.ts';
import { liveClaims, type Waiting, waitingFor } from '../coordination/index.ts';
import { recentNotes } from '../notes/index.ts';
import { RECENT_MS, recentWarnings, warningView } from '../overlap/index.ts';
import { activeContexts, recentSessions, staleSessions } from '../sessions/index.ts';
import { type TaskView, tasksBy, viewTask, workstreamsBy } from '../tasks/index.ts';
import { currentConflicts, latestAudits } from './audits.ts';
import type { StateDocument, TeamState } from './contract.ts';

/** The maximum number of rows per section. The state must stay small, because agents read it at the start of their work. */
const ROWS = 15;
const CONTEXTS = 5;
const SUMMARY_SHOWN = 300;
const QUESTION_SHOWN = 500;

interface TeamStateWithWaiting extends TeamState {
  readonly waiting: Waiting;
}

/** Reads the whole team state, reduced to what the caller may see. */
export async function readTeamState(
  db: Db,
  workspace: string,
  principal: Principal,
  now: number,
  sessionId: string | null = null,
): Promise<TeamStateWithWaiting> {
  const cut: string[] = [];
  const listed = <T>(section: string, rows: T[], most = ROWS): T[] => {
    if (rows.length > most) cut.push(section);
    return rows.slice(0, most);
  };
  const viewer = await viewerOf(db, principal);
  const brief = (row: Parameters<typeof viewTask>[0]) => briefTask(viewTask(row, viewer));
  const tasks = async (statuses: Parameters<typeof tasksBy>[2]['statuses']) => await tasksBy(db, workspace, { statuses, limit: ROWS + 1 });
  const workstreams = async (statuses: Parameters<typeof workstreamsBy>[2]) =>
    (await workstreamsBy(db, workspace, statuses, ROWS + 1)).map((row) => ({
      workstream_id: row.id,
      title: row.title,
      status: row.status,
      owner: viewer.name(row.developer_id),
      mine: row.developer_id === viewer.developerId,
      auto_created: row.auto_created === 1,
      updated_at: row.updated_at,
    }));
  const completed = (await tasks(['completed'])).filter(({ closed_at }) => (closed_at ?? 0) >= now - RECENT_MS);
  const warnings = await recentWarnings(db, workspace, { open: true, limit: ROWS + 1 });
  const notes = await recentNotes(db, workspace, viewer, now - RECENT_MS, ROWS + 1);
  const conflicts = await currentConflicts(db, workspace, viewer);
  const state = {
    active_work: listed('active_work', (await tasks(['active', 'blocked'])).map(brief)),
    planned_work: listed('planned_work', (await tasks(['planned'])).map(brief)),
    recent_completions: listed('recent_completions', completed.map(brief)),
    active_workstreams: listed('active_workstreams', await workstreams(['active', 'blocked'])),
    planned_workstreams: listed('planned_workstreams', await workstreams(['planned'])),
    risks_decisions: listed('risks_decisions', notes).map((note) => ({ ...note, body: note.body && beginning(note.body, SUMMARY_SHOWN) })),
    recent_sessions: listed('recent_sessions', await recentSessions(db, workspace, viewer, now, ROWS + 1)),
    stale_sessions: listed('stale_sessions', await staleSessions(db, workspace, viewer, now, ROWS + 1)),
    overlap_warnings: listed('overlap_warnings', warnings).map((row) => briefWarning(warningView(row, viewer.name))),
    session_contexts: listed('session_contexts', await activeContexts(db, workspace, viewer, now, CONTEXTS + 1), CONTEXTS),
    live_claims: listed('live_claims', await liveClaims(db, workspace, principal, now)),
    latest_parallel_audits: await latestAudits(db, workspace, viewer),
    parallel_audit_conflicts: listed('parallel_audit_conflicts', conflicts),
  };
  const waiting = await waitingFor(db, workspace, principal, now, sessionId);
  return { ...state, next_actions: nextActions(state, waiting, principal), cut, waiting };
}

/** Reads the questions that agents have asked people. They are not part of the state for agents, because agents cannot answer them. */
export async function readQuestions(db: Db, workspace: string, viewer: Principal, now: number): Promise<Pick<StateDocument, 'questions' | 'cut'>> {
  const open = await openQuestions(db, workspace, viewer, now, ROWS);
  const questions = open.slice(0, ROWS).map((question) => ({ ...question, question: beginning(question.question, QUESTION_SHOWN) }));
  return { questions, cut: open.length > ROWS ? ['questions'] : [] };
}

export const briefTask = (task: TaskView) => ({
  task_id: task.task_id,
  title: task.title,
  task_type: task.task_type,
  status: task.status,
  owner: task.owner,
  mine: task.mine,
  agent: task.agent,
  component: task.component,
  priority: task.priority,
  workstream_id: task.workstream_id,
  result_summary: task.result_summary && beginning(task.result_summary, SUMMARY_SHOWN),
  updated_at: task.updated_at,
});

const WARNING_MATCHES = 2;

const briefWarning = ({ warning_id, title, developer, subject_id, level, matches, created_at }: ReturnType<typeof warningView>) => ({
  warning_id,
  title,
  developer,
  subject_id,
  level,
  matches: matches.slice(0, WARNING_MATCHES).map(({ id, title: other, owner, status, score, reason }) => ({ id, title: other, owner, status, score, reason })),
  created_at,
});

type Facts = Omit<TeamState, 'next_actions' | 'cut'>;
type NextAction = TeamState['next_actions'][number];

const MAX_ITEMS = 12;

/** What the caller should do next, most urgent first. */
function nextActions(state: Facts, { waiting, answers, handoffs }: Waiting, viewer: Principal): NextAction[] {
  const me = viewer.developerName ?? '';
  const mine = <T extends { mine: boolean }>(rows: readonly T[]) => rows.filter((row) => row.mine);
  const conflicts = state.parallel_audit_conflicts.filter(({ kind, first, second }) => kind !== 'historical' && (first.owner === me || second.owner === me));
  return [
    ...waiting.map(({ ask_id, from }) => ({
      action: `Answer ${from}: covibe_coordination with operation "reply", ask_id "${ask_id}" and a message.`,
      about: ask_id,
    })),
    ...handoffs.map(({ handoff_id, from }) => ({
      action: `Take over from ${from}: covibe_coordination with operation "accept_handoff" and handoff_id "${handoff_id}".`,
      about: handoff_id,
    })),
    ...answers.map(({ ask_id, from }) => ({
      action: `${from} answered your ask: read it with covibe_coordination, operation "list" and what "asks".`,
      about: ask_id,
    })),
    ...conflicts.map(({ first, second }) => ({
      action: `"${first.title}" and "${second.title}" look like the same work: ask the other owner which one continues (covibe_coordination with operation "ask", to and a message). If both are yours or the other owner is private, ask your user.`,
      about: first.id,
    })),
    ...state.stale_sessions
      .filter(({ developer }) => developer === me)
      .map(({ session_id }) => ({
        action: `Your session is stale: covibe_session with operation "heartbeat" or "end" and session_id "${session_id}".`,
        about: session_id,
      })),
    ...mine(state.active_work)
      .filter(({ status }) => status === 'blocked')
      .map(({ task_id, title }) => ({
        action: `Unblock "${title}", or record what blocks it: covibe_note with kind "blocker", a title and task_id "${task_id}".`,
        about: task_id,
      })),
    ...state.overlap_warnings
      .filter(({ developer, level }) => developer === me && level === 'escalated')
      .map(({ warning_id, title }) => ({
        action: `Judge the overlap of "${title}": check again and send a scope_verdict, or dismiss it: covibe_warning with operation "dismiss", warning_id "${warning_id}" and a reason.`,
        about: warning_id,
      })),
    ...mine(state.active_work)
      .filter(({ status }) => status === 'active')
      .map(({ task_id, title }) => ({
        action: `Finish "${title}": covibe_task with operation "complete", task_id "${task_id}" and a result_summary.`,
        about: task_id,
      })),
    ...mine(state.planned_work).map(({ task_id, title, task_type }) => ({
      action: `Start "${title}": covibe_task with operation "check", its title, task_type "${task_type}" and planned_task_id "${task_id}"; then "start_planned" with planned_task_id.`,
      about: task_id,
    })),
  ].slice(0, MAX_ITEMS);
}
