import type { z } from 'zod';
import { ok, type Reply, refused } from '../../../kernel/reply.ts';
import type { checkOutput } from './contract.ts';
import { howToJudge, idsOf, type StartCall } from './start-rules.ts';

export type CheckResult = z.output<z.ZodObject<typeof checkOutput>>;

/** The result of a plan. The id is null if nothing was stored, because a person must confirm the plan first. */
export interface PlannedWork {
  readonly id: string | null;
  readonly overlap: Omit<CheckResult, 'check_id'>;
}

/**
 * The reply of a check. The `warn` threshold is low, so that no duplicate is missed. For that reason the reply only mentions weak matches: if
 * every match produced a warning, agents would ignore the matches that need a verdict.
 */
export function checkReply(result: CheckResult, call: StartCall): Reply<CheckResult> {
  const { candidates, matches, file_conflicts: conflicts } = result;
  const [found] = candidates.length > 0 ? candidates : matches;
  if (!found) return ok(result, `No similar work found.${conflicts.length > 0 ? ' Others are working on some of your files: see file_conflicts.' : ''}`);
  const others = Math.max(0, (candidates.length || matches.length) - 1);
  const more = others > 0 ? ` and ${others} more` : '';
  if (candidates.length > 0) {
    const message = `Possible duplicate work: "${found.title}" by ${found.owner} (${found.reason})${more}.`;
    return refused('warning', 'OVERLAP_ESCALATED', message, howToJudge(call, result.check_id, idsOf(candidates)), { ...result });
  }
  return ok(
    result,
    `You can start. Similar work: "${found.title}" by ${found.owner}, ${found.status} (${found.reason})${more}. If one of data.matches is the same work, talk to its owner first.`,
  );
}

function planNext(data: Record<string, unknown>, id: string): string {
  const noun = 'task_id' in data ? 'task' : 'workstream';
  const cancel = `covibe_${noun} with operation "cancel", ${noun}_id "${id}" and a reason`;
  return `If one of data.candidates is the same work, cancel this plan: ${cancel}. Otherwise check it again before you start it.`;
}

/** The reply of a plan. If a person has confirmed the candidates, the reply contains no warning about them. */
export function planReply<T extends Record<string, unknown>>({ id, overlap }: PlannedWork, data: T, confirmed = false): Reply<T & PlannedWork['overlap']> {
  const reply = { ...data, ...overlap };
  const [first] = overlap.candidates;
  if (id === null) {
    return refused(
      'blocked',
      'CONFIRM_REQUIRED',
      'Possible duplicate work: nothing was planned.',
      'Review `candidates`. To plan the work anyway, repeat the request with `confirm` true.',
      reply,
    );
  }
  if (!first || confirmed) return ok(reply, overlap.matches.length > 0 ? 'Planned. Similar work exists: see data.matches.' : 'Planned.');
  return refused('warning', 'OVERLAP_ESCALATED', `Planned, but it looks like "${first.title}" by ${first.owner} (${first.reason}).`, planNext(data, id), reply);
}
