import type { Principal } from '../../../kernel/context.ts';
import type { Waiting } from '../coordination/index.ts';
import type { TeamState } from './contract.ts';

type Facts = Omit<TeamState, 'next_actions' | 'cut'>;
type NextAction = TeamState['next_actions'][number];

const MAX_ITEMS = 12;

/** What the caller should do next, the most pressing first. */
export function nextActions(state: Facts, { waiting, answers, handoffs }: Waiting, viewer: Principal): NextAction[] {
  const me = viewer.developerName ?? '';
  const mine = <T extends { mine: boolean }>(rows: readonly T[]) => rows.filter((row) => row.mine);
  const conflicts = state.parallel_audit_conflicts.filter(({ kind, first, second }) => kind !== 'historical' && (first.owner === me || second.owner === me));
  return [
    ...waiting.map(({ ask_id, from }) => ({ action: `Answer ${from}: covibe_coordination reply with ask_id.`, about: ask_id })),
    ...handoffs.map(({ handoff_id, from }) => ({ action: `Take over from ${from}: covibe_coordination accept_handoff with handoff_id.`, about: handoff_id })),
    ...answers.map(({ ask_id, from }) => ({ action: `${from} answered your ask: read it with covibe_coordination list.`, about: ask_id })),
    ...conflicts.map(({ first, second }) => ({
      action: `Settle with the others: "${first.title}" and "${second.title}" look like the same work.`,
      about: first.id,
    })),
    ...state.stale_sessions
      .filter(({ developer }) => developer === me)
      .map(({ session_id }) => ({ action: 'Your session has gone quiet: heartbeat or end it.', about: session_id })),
    ...mine(state.active_work)
      .filter(({ status }) => status === 'blocked')
      .map(({ task_id, title }) => ({ action: `Unblock "${title}", or record what blocks it with covibe_note.`, about: task_id })),
    ...state.overlap_warnings
      .filter(({ developer, level }) => developer === me && level === 'escalated')
      .map(({ warning_id, title }) => ({
        action: `Judge the overlap of "${title}": check again and send a scope_verdict, or dismiss the warning.`,
        about: warning_id,
      })),
    ...mine(state.active_work)
      .filter(({ status }) => status === 'active')
      .map(({ task_id, title }) => ({ action: `Finish "${title}": covibe_task complete with a result_summary.`, about: task_id })),
    ...mine(state.planned_work).map(({ task_id, title }) => ({
      action: `Start "${title}": check it with planned_task_id, then start_planned.`,
      about: task_id,
    })),
  ].slice(0, MAX_ITEMS);
}
