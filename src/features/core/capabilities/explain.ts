import type { CallContext } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { capabilityFor, toolNamed } from '../../../kernel/registry.ts';
import { Refusal } from '../../../kernel/reply.ts';
import type { capabilityMatrix, explainCapability } from './contract.ts';
import { type AccessForecast, argumentsOf } from './gate.ts';
import { viewGrants } from './grants.ts';
import type { Caller, GrantOffer, NamedSubject, Subjects } from './ports.ts';

type Explanation = Output<typeof explainCapability>;

export async function explainAccess(subjects: Subjects, offer: GrantOffer, ctx: CallContext, named: NamedSubject, name: string): Promise<Explanation> {
  const { reader, principal, clock } = ctx;
  const { callers, total } = await callersNamed(subjects, ctx, named);
  const gate = offer.gate();
  const foreseen = await Promise.all(callers.map(async (caller) => (caller.ended === null ? (await gate.foresee(caller.principal, name))(name) : undefined)));
  const grants = foreseen.flatMap((each) => each?.grant ?? []);
  const shown = new Map((await viewGrants(reader, subjects, principal, grants, clock.now())).map((grant) => [grant.grant_id, grant]));
  const answers = callers.map(({ subject, name: called, label, ended }, at) => ({
    ...{ subject, name: called, label },
    ...foreseenAnswer(foreseen[at], ended, shown),
  }));
  const tool = offer.tools(ctx.workspace).find((each) => each.name === toolNamed(name));
  return {
    capability: capabilityFor('tool', name),
    tool: tool ? { server: tool.server, state: tool.state } : null,
    answers,
    more: total - callers.length,
  };
}

type ForeseenAnswer = Pick<Explanation['answers'][number], 'answer' | 'message' | 'grant'>;

/** `foreseen` is undefined for a caller whose token has ended. */
function foreseenAnswer(
  foreseen: AccessForecast | undefined,
  ended: string | null,
  grants: ReadonlyMap<string, NonNullable<ForeseenAnswer['grant']>>,
): ForeseenAnswer {
  if (!foreseen) return { answer: 'no', message: ended, grant: null };
  const { verdict, grant } = foreseen;
  return { answer: answerOf(foreseen), message: verdict.allowed ? null : verdict.reply.message, grant: grants.get(grant?.id ?? '') ?? null };
}

type AccessAnswer = Explanation['answers'][number]['answer'];

function answerOf({ verdict, grant }: AccessForecast): AccessAnswer {
  if (!verdict.allowed) return 'no';
  if (!grant) return 'open';
  if (verdict.approve) return 'asks';
  return argumentsOf(grant) ? 'limited' : 'yes';
}

/** A caller who may not ask about a token must not learn whether the token exists. */
async function callersNamed(subjects: Subjects, { reader, workspace, principal, clock }: CallContext, named: NamedSubject) {
  const find = async () => await subjects.callersOf(reader, principal, await subjects.resolve(reader, workspace, named), clock.now());
  if (principal.operator) return await find();
  const isOwn = ({ principal: { developerId } }: Caller) => developerId !== null && developerId === principal.developerId;
  const found = await find().catch((error) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
  if (found?.callers.every(isOwn)) return found;
  throw new Refusal(
    'NOT_YOURS',
    'You can only ask about yourself and your own tokens.',
    'Repeat the call with `developer` set to your own name or `token` to one of your own tokens, or ask the operator to run `covenant capabilities explain TOOL --developer NAME`.',
  );
}

type Matrix = Output<typeof capabilityMatrix>;

/** Reads the grants only once for each caller, however many tools there are. */
export async function accessMatrix(subjects: Subjects, offer: GrantOffer, ctx: CallContext, page: Input<typeof capabilityMatrix>): Promise<Matrix> {
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
