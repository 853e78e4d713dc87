import { toolNamed } from '../../../kernel/aliases.ts';
import type { CallContext } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import { Refusal } from '../../../kernel/errors.ts';
import type { explainCapability } from './contract.ts';
import type { Foreseen, Gate } from './gate.ts';
import { argumentsOf, capabilityFor } from './grant.ts';
import type { Caller, NamedSubject, Subjects } from './subjects.ts';
import { viewGrants } from './views.ts';

/** What there is to call, and who decides on it. */
export interface Offer {
  gate(): Gate;
  tools(workspace: string): readonly OfferedTool[];
}

interface OfferedTool {
  readonly name: string;
  /** `native`, or an external server's. */
  readonly server: string;
  readonly state: 'up' | 'starting' | 'down' | 'withheld';
}

type Explanation = Output<typeof explainCapability>;
export type Answer = Explanation['answers'][number]['answer'];

export function answerOf({ verdict, grant }: Foreseen): Answer {
  if (!verdict.allowed) return 'no';
  if (!grant) return 'open';
  if (verdict.approve) return 'asks';
  return argumentsOf(grant) ? 'limited' : 'yes';
}

export async function explain(subjects: Subjects, offer: Offer, ctx: CallContext, named: NamedSubject, name: string): Promise<Explanation> {
  const { reader, principal, clock } = ctx;
  const { callers, total } = await callersNamed(subjects, ctx, named);
  const gate = offer.gate();
  const foreseen = await Promise.all(callers.map(async (caller) => (caller.ended === null ? (await gate.foresee(caller.principal, name))(name) : undefined)));
  const grants = foreseen.flatMap((each) => each?.grant ?? []);
  const shown = new Map((await viewGrants(reader, subjects, principal, grants, clock.now())).map((grant) => [grant.grant_id, grant]));
  const answers = callers.map(({ subject, name: called, label, ended }, at) => ({
    ...{ subject, name: called, label },
    ...told(foreseen[at], ended, shown),
  }));
  const tool = offer.tools(ctx.workspace).find((each) => each.name === toolNamed(name));
  return {
    capability: capabilityFor('tool', name),
    tool: tool ? { server: tool.server, state: tool.state } : null,
    answers,
    more: total - callers.length,
  };
}

type Told = Pick<Explanation['answers'][number], 'answer' | 'message' | 'grant'>;

/** Whoever is not let in is not foreseen. */
function told(foreseen: Foreseen | undefined, ended: string | null, grants: ReadonlyMap<string, NonNullable<Told['grant']>>): Told {
  if (!foreseen) return { answer: 'no', message: ended, grant: null };
  const { verdict, grant } = foreseen;
  return { answer: answerOf(foreseen), message: verdict.allowed ? null : verdict.reply.message, grant: grants.get(grant?.id ?? '') ?? null };
}

/** Whether somebody else's token exists is not said to whoever may not ask for it. */
async function callersNamed(subjects: Subjects, { reader, workspace, principal, clock }: CallContext, named: NamedSubject) {
  const find = async () => await subjects.callersOf(reader, principal, await subjects.resolve(reader, workspace, named), clock.now());
  if (principal.operator) return await find();
  const isOwn = ({ principal: { developerId } }: Caller) => developerId !== null && developerId === principal.developerId;
  const found = await find().catch((error) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
  if (found?.callers.every(isOwn)) return found;
  throw new Refusal('NOT_YOURS', 'You can ask for yourself and your own tokens.', 'Ask the operator for anybody else.');
}
