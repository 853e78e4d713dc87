import type { OverlapMatch, ScopeVerdict } from './contract.ts';

/** The fields of a start that answer the check before it. */
export interface StartAnswer {
  readonly check_id?: string | undefined;
  readonly scope_verdict?: ScopeVerdict | undefined;
  readonly warning_id?: string | undefined;
  readonly confirmation_reason?: string | undefined;
}

/** The latest check with the same title by the same developer, and the present state of its candidates. */
export interface CheckFacts {
  readonly id: string;
  readonly warningId: string | null;
  readonly age: number;
  readonly used: boolean;
  /** All candidates that the check escalated. */
  readonly escalated: readonly string[];
  /** Those of them that are still open, even if the words of the start no longer match them. */
  readonly live: readonly OverlapMatch[];
  /** Every match that was open at the time of the check has ended, escalated or not. */
  readonly isOver: boolean;
  /** Escalated now and not by the check: somebody started in the meantime. */
  readonly arrived: readonly OverlapMatch[];
}

const CHECK_LASTS_MS = 10 * 60_000;

export type PassedStart =
  | { readonly passes: 'clear' | 'outlived' }
  | { readonly passes: 'judged'; readonly verdict: ScopeVerdict }
  | { readonly passes: 'confirmed'; readonly reason: string };
export interface BlockedStart {
  readonly blocked: string;
  readonly message: string;
  readonly next: string;
  readonly fields?: Record<string, unknown>;
}
type StartRuling = PassedStart | BlockedStart;

/** Whether work may start. The score only asks the question; the verdict answers it. */
export function ruleStart(check: CheckFacts | undefined, answer: StartAnswer, tool: string): StartRuling {
  const again = `Call ${tool.split(' ')[0]} with operation "check" and ${whatToCheck(tool)}, then start within 10 minutes.`;
  if (!check) return block('CHECK_REQUIRED', 'This work was not checked: there is no check of yours with this title.', again);
  if (check.used) return block('CHECK_REQUIRED', 'A check serves one start, and your latest one with this title has served.', again);
  if (check.age > CHECK_LASTS_MS) return block('CHECK_EXPIRED', 'The check is more than 10 minutes old.', again);
  if (answer.check_id !== undefined && answer.check_id !== check.id) {
    return block('CHECK_MISMATCH', 'check_id is not your latest check with this title.', `Send the check_id of your latest check, or check again. ${again}`);
  }
  if (check.arrived.length > 0) {
    return block(
      'NEW_OVERLAP',
      'There is work that looks the same and that your check did not bring up: it is newer, or your words have changed.',
      howToJudge(tool),
    );
  }
  if (check.isOver || (check.escalated.length > 0 && check.live.length === 0)) return { passes: 'outlived' };
  if (answer.warning_id !== undefined && answer.warning_id !== check.warningId) {
    return block('WARNING_MISMATCH', 'warning_id is not the warning of your latest check.', 'Send the warning_id of your latest check, or leave it out.');
  }
  if (check.live.length > 0) return ruleVerdict(check, answer, tool);
  if (answer.scope_verdict) return ruleUnaskedVerdict(check, answer.scope_verdict);
  return ruleConfirmation(answer);
}

function ruleVerdict(check: CheckFacts, { check_id, scope_verdict: verdict, confirmation_reason }: StartAnswer, tool: string): StartRuling {
  if (check_id === undefined || !verdict) return block('VERDICT_REQUIRED', 'Possible duplicate work found.', howToJudge(tool));
  const judged = new Map(verdict.candidates.map((candidate) => [candidate.id, candidate]));
  const missing = check.live.filter(({ id }) => !judged.has(id)).map(({ id }) => id);
  if (missing.length > 0) {
    return block('VERDICT_INCOMPLETE', `The verdict leaves ${missing.join(', ')} unjudged.`, 'Judge every candidate: {id, same_scope, reason}.', { missing });
  }
  const unknown = verdict.candidates.map(({ id }) => id).filter((id) => !check.escalated.includes(id));
  if (unknown.length > 0) {
    return block('VERDICT_MISMATCH', `The check has no candidate ${unknown.join(', ')}.`, 'Judge the candidates of your latest check, by their ids.', {
      unknown,
    });
  }
  const same = verdict.candidates.filter(({ same_scope }) => same_scope).map(({ id }) => id);
  if (verdict.verdict === 'distinct' && same.length > 0) {
    return block(
      'VERDICT_INCONSISTENT',
      `The verdict is "distinct", yet ${same.join(', ')} is marked as the same scope.`,
      'Send "duplicate", or judge it distinct.',
      {
        same,
      },
    );
  }
  if (verdict.verdict === 'duplicate' && same.length === 0) {
    return block(
      'VERDICT_INCONSISTENT',
      'The verdict is "duplicate", yet no candidate is marked as the same scope.',
      'Mark the one that is with same_scope: true.',
    );
  }
  if (verdict.verdict === 'duplicate' && confirmation_reason === undefined) {
    return block(
      'CONFIRMATION_REASON_REQUIRED',
      'You judged this a duplicate.',
      'Do not start it, or ask the developer for confirmation and send their reason as confirmation_reason.',
    );
  }
  return { passes: 'judged', verdict };
}

/** A verdict that nobody asked for is stored too, so it must make sense. */
function ruleUnaskedVerdict(check: CheckFacts, verdict: ScopeVerdict): StartRuling {
  const unknown = verdict.candidates.map(({ id }) => id).filter((id) => !check.escalated.includes(id));
  if (unknown.length === 0 && verdict.verdict === 'distinct') return { passes: 'clear' };
  return block('VERDICT_MISMATCH', 'Your latest check escalated no candidate, so there is nothing to judge.', 'Start without scope_verdict.', { unknown });
}

/** Warnings that need no verdict never block by themselves. */
function ruleConfirmation({ warning_id, confirmation_reason }: StartAnswer): StartRuling {
  if (warning_id === undefined) return { passes: 'clear' };
  if (confirmation_reason === undefined) {
    return block('CONFIRMATION_REASON_REQUIRED', 'A confirmation needs its reason.', 'Send confirmation_reason with warning_id, or leave both out.');
  }
  return { passes: 'confirmed', reason: confirmation_reason };
}

/** Tasks may share a title, so a planned one is named by its id as well. */
const whatToCheck = (tool: string): string => (tool === 'covibe_task start_planned' ? 'its title and planned_task_id' : 'the same title');

export const howToJudge = (tool: string): string =>
  `Compare your work with each candidate. Then call ${tool} with check_id and scope_verdict {verdict: "distinct" | "duplicate", candidates: [{id, same_scope, reason}]}; ` +
  'if it is a duplicate, ask the developer for confirmation and a reason before starting.';

const block = (blocked: string, message: string, next: string, fields?: Record<string, unknown>): StartRuling => ({
  blocked,
  message,
  next,
  ...(fields ? { fields } : {}),
});
