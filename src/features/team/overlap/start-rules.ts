import type { OverlapMatch, ScopeVerdict } from './contract.ts';

/** The fields of a start with which the caller responds to the result of the check. */
export interface StartAnswer {
  readonly check_id?: string | undefined;
  readonly scope_verdict?: ScopeVerdict | undefined;
  readonly warning_id?: string | undefined;
  readonly confirmation_reason?: string | undefined;
}

/** The developer's latest check with the same title, and the present state of its candidates. */
export interface CheckFacts {
  readonly id: string;
  readonly warningId: string | null;
  readonly age: number;
  readonly used: boolean;
  /** All candidates that the check escalated. */
  readonly escalated: readonly string[];
  /** The candidates that are still open, even if the words of the start no longer match them. */
  readonly live: readonly OverlapMatch[];
  /** True if all matches that were open at the time of the check, escalated or not, have ended since. */
  readonly isOver: boolean;
  /** Candidates that the check did not escalate. Either they are newer than the check, or the words of the work have changed. */
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

/** Decides whether work may start. The score determines whether a verdict is required, and the verdict determines whether the work may start. */
export function ruleStart(check: CheckFacts | undefined, answer: StartAnswer, call: StartCall): StartRuling {
  const again = `Call ${call.check}. Then call ${call.start} within 10 minutes.`;
  if (!check) return block('CHECK_REQUIRED', 'This work was not checked: you have no check with this title.', again);
  if (check.used) return block('CHECK_REQUIRED', 'Your latest check with this title is already used. Each check allows one start.', again);
  if (check.age > CHECK_LASTS_MS) return block('CHECK_EXPIRED', 'Your check is more than 10 minutes old.', again);
  if (answer.check_id !== undefined && answer.check_id !== check.id) {
    const message = `Check ${JSON.stringify(answer.check_id)} is not your latest check with this title.`;
    return block('CHECK_MISMATCH', message, `Call ${call.start} and check_id "${check.id}". Or check again: ${call.check}.`);
  }
  if (check.arrived.length > 0) {
    return block(
      'NEW_OVERLAP',
      'Similar work was found that your check did not report: it is newer, or your words have changed.',
      howToJudge(call, check.id, idsOf(check.arrived)),
    );
  }
  if (check.isOver || (check.escalated.length > 0 && check.live.length === 0)) return { passes: 'outlived' };
  if (answer.warning_id !== undefined && answer.warning_id !== check.warningId) {
    const next =
      check.warningId === null
        ? `Call ${call.start} again without warning_id: your latest check stored no warning.`
        : `Call ${call.start} again with warning_id "${check.warningId}", or without it.`;
    return block('WARNING_MISMATCH', `Warning ${JSON.stringify(answer.warning_id)} is not the warning of your latest check.`, next);
  }
  if (check.live.length > 0) return ruleVerdict(check, answer, call);
  if (answer.scope_verdict) return ruleUnaskedVerdict(check, answer.scope_verdict, call);
  return ruleConfirmation(answer, call);
}

function ruleVerdict(check: CheckFacts, { check_id, scope_verdict: verdict, confirmation_reason }: StartAnswer, call: StartCall): StartRuling {
  if (check_id === undefined || !verdict) return block('VERDICT_REQUIRED', 'Possible duplicate work found.', howToJudge(call, check.id, idsOf(check.live)));
  const judged = new Map(verdict.candidates.map((candidate) => [candidate.id, candidate]));
  const missing = check.live.filter(({ id }) => !judged.has(id)).map(({ id }) => id);
  if (missing.length > 0) {
    const next = `Call ${call.start} again with check_id "${check.id}" and one {id, same_scope, reason} in scope_verdict for each of ${idsOf(check.live).join(', ')}.`;
    return block('VERDICT_INCOMPLETE', `The verdict does not judge ${missing.join(', ')}.`, next, { missing });
  }
  const unknown = verdict.candidates.map(({ id }) => id).filter((id) => !check.escalated.includes(id));
  if (unknown.length > 0) {
    return block(
      'VERDICT_MISMATCH',
      `Check ${check.id} has no candidate ${unknown.join(', ')}.`,
      `Call ${call.start} again with check_id "${check.id}", and judge only its candidates: ${check.escalated.join(', ')}.`,
      {
        unknown,
      },
    );
  }
  const same = verdict.candidates.filter(({ same_scope }) => same_scope).map(({ id }) => id);
  if (verdict.verdict === 'distinct' && same.length > 0) {
    return block(
      'VERDICT_INCONSISTENT',
      `The verdict is "distinct", but ${same.join(', ')} has same_scope true.`,
      `If it is the same work, do not start it; if your developer wants it anyway, call ${call.start} again with check_id "${check.id}", verdict "duplicate" and their reason as confirmation_reason. Otherwise call it with same_scope false for ${same.join(', ')}.`,
      {
        same,
      },
    );
  }
  if (verdict.verdict === 'duplicate' && same.length === 0) {
    return block(
      'VERDICT_INCONSISTENT',
      'The verdict is "duplicate", but no candidate has same_scope true.',
      `If a candidate is the same work, do not start it; if your developer wants it anyway, call ${call.start} again with check_id "${check.id}", same_scope true for that candidate and their reason as confirmation_reason. Otherwise call it with verdict "distinct".`,
    );
  }
  if (verdict.verdict === 'duplicate' && confirmation_reason === undefined) {
    return block(
      'CONFIRMATION_REASON_REQUIRED',
      'You judged this work a duplicate.',
      `Do not start it. If your developer wants it anyway, call ${call.start} again with check_id "${check.id}", the same scope_verdict and their reason as confirmation_reason.`,
    );
  }
  return { passes: 'judged', verdict };
}

/** Checks a verdict that was not required. It must be consistent too, because it is stored. */
function ruleUnaskedVerdict(check: CheckFacts, verdict: ScopeVerdict, call: StartCall): StartRuling {
  const unknown = verdict.candidates.map(({ id }) => id).filter((id) => !check.escalated.includes(id));
  if (unknown.length === 0 && verdict.verdict === 'distinct') return { passes: 'clear' };
  return block(
    'VERDICT_MISMATCH',
    'Your latest check escalated no candidate, so there is nothing to judge.',
    `Call ${call.start} again, without scope_verdict.`,
    { unknown },
  );
}

/** Handles warnings that need no verdict. They never block by themselves, but a confirmation must be complete. */
function ruleConfirmation({ warning_id, confirmation_reason }: StartAnswer, call: StartCall): StartRuling {
  if (warning_id === undefined) return { passes: 'clear' };
  if (confirmation_reason === undefined) {
    return block(
      'CONFIRMATION_REASON_REQUIRED',
      'A confirmation needs a reason.',
      `Call ${call.start} again with warning_id "${warning_id}" and confirmation_reason, or without both.`,
    );
  }
  return { passes: 'confirmed', reason: confirmation_reason };
}

/** The texts of the calls that check and start a piece of work, with their arguments. They are used in next steps. */
export interface StartCall {
  readonly check: string;
  readonly start: string;
}
export const idsOf = (matches: readonly Pick<OverlapMatch, 'id'>[]): string[] => matches.map(({ id }) => id);
const MAX_NAMED = 10;
export function howToJudge(call: StartCall, checkId: string, candidates: readonly string[]): string {
  const more = candidates.length > MAX_NAMED ? ' and the others in data.candidates' : '';
  const each = `one {id, same_scope, reason} for each of ${candidates.slice(0, MAX_NAMED).join(', ')}${more}`;
  return (
    `Compare your work with each candidate. Then call ${call.start}, check_id "${checkId}" and scope_verdict {verdict: "distinct" | "duplicate", candidates: [${each}]}. ` +
    'If it is a duplicate, do not start it: ask your developer for confirmation and send their reason as confirmation_reason.'
  );
}

const block = (blocked: string, message: string, next: string, fields?: Record<string, unknown>): StartRuling => ({
  blocked,
  message,
  next,
  ...(fields ? { fields } : {}),
});
