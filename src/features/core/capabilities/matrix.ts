import type { CallContext } from '../../../kernel/context.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { answerOf, type Offer } from './answers.ts';
import type { capabilityMatrix } from './contract.ts';
import type { Subjects } from './subjects.ts';

type Matrix = Output<typeof capabilityMatrix>;

/** One reading for each caller, whatever the number of tools. */
export async function matrix(subjects: Subjects, offer: Offer, ctx: CallContext, page: Input<typeof capabilityMatrix>): Promise<Matrix> {
  const { reader, principal, clock } = ctx;
  const text = page.text?.toLowerCase();
  const fits = offer
    .tools(ctx.workspace)
    .filter(({ name, server }) => (page.server ?? server) === server && (text === undefined || name.toLowerCase().includes(text)))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const tools = fits.slice(page.offset, page.offset + page.limit);
  const { callers, total } = await subjects.callers(reader, principal, { limit: page.callers_limit, offset: page.callers_offset }, clock.now());
  const foresights = await Promise.all(callers.map((caller) => offer.gate().foresee(caller.principal)));
  return {
    callers: callers.map(({ subject, name, label }) => ({ subject, name, label })),
    total_callers: total,
    items: tools.map(({ name, server, state }) => ({ name, server, state, answers: foresights.map((foresee) => answerOf(foresee(name))) })),
    total: fits.length,
  };
}
