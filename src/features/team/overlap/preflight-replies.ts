import type { z } from 'zod';
import { ok, type Reply, refused } from '../../../kernel/reply.ts';
import type { checkOutput } from './contract.ts';
import { howToJudge } from './start-rules.ts';

export type CheckResult = z.output<z.ZodObject<typeof checkOutput>>;

/** Null: not planned, because nobody has confirmed it yet. */
export interface PlannedWork {
  readonly id: string | null;
  readonly overlap: Omit<CheckResult, 'check_id'>;
}

/**
 * The reply of a check: what was found decides how it reads. The warn floor is low, so that nothing is missed; what it brings is
 * disclosed and not shouted, or nobody would listen to what needs a verdict.
 */
export function checkReply(result: CheckResult, tool: string): Reply<CheckResult> {
  const { candidates, matches, file_conflicts: conflicts } = result;
  const [found] = candidates.length > 0 ? candidates : matches;
  if (!found) return ok(result, `No similar work found.${conflicts.length > 0 ? ' Others have some of your files in hand: see file_conflicts.' : ''}`);
  const others = Math.max(0, (candidates.length || matches.length) - 1);
  const more = others > 0 ? ` and ${others} more` : '';
  if (candidates.length > 0) {
    const message = `Possible duplicate work: "${found.title}" by ${found.owner} (${found.reason})${more}.`;
    return refused('warning', 'OVERLAP_ESCALATED', message, `Judge before you start. ${howToJudge(tool)}`, { ...result });
  }
  return ok(
    result,
    `Nothing holds you up. Somewhat alike: "${found.title}" by ${found.owner}, ${found.status} (${found.reason})${more}; if one of data.matches is the same work, talk to its owner first.`,
  );
}

const PLAN_NEXT = 'Look at data.candidates: if one of them is the same work, cancel this plan. Before you start it, check again.';

/** The reply of a plan, with what the caller says of the work. Whoever has confirmed the candidates need not be warned of them. */
export function planReply<T extends Record<string, unknown>>({ id, overlap }: PlannedWork, data: T, confirmed = false): Reply<T & PlannedWork['overlap']> {
  const reply = { ...data, ...overlap };
  const [first] = overlap.candidates;
  if (id === null) {
    return refused(
      'blocked',
      'CONFIRM_REQUIRED',
      'Possible duplicate work found.',
      'Look at the candidates; send confirm: true to plan it all the same.',
      reply,
    );
  }
  if (!first || confirmed) return ok(reply, overlap.matches.length > 0 ? 'Planned. Somewhat alike: see data.matches.' : 'Planned.');
  return refused('warning', 'OVERLAP_ESCALATED', `Planned, but it looks like "${first.title}" by ${first.owner} (${first.reason}).`, PLAN_NEXT, reply);
}
