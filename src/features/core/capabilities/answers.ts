import type { z } from 'zod';
import type { CallContext, Principal } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { capabilityFor, toolNamed } from '../../../kernel/registry.ts';
import { Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { view } from '../../../storage/rows.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import { type capabilityMatrix, type explainCapability, grantView } from './contract.ts';
import { type AccessForecast, argumentsOf, type Gate, grantStatus } from './gate.ts';

/** What there is to call, and who decides on it. */
export interface GrantOffer {
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
type AccessAnswer = Explanation['answers'][number]['answer'];

function answerOf({ verdict, grant }: AccessForecast): AccessAnswer {
  if (!verdict.allowed) return 'no';
  if (!grant) return 'open';
  if (verdict.approve) return 'asks';
  return argumentsOf(grant) ? 'limited' : 'yes';
}

export async function explain(subjects: Subjects, offer: GrantOffer, ctx: CallContext, named: NamedSubject, name: string): Promise<Explanation> {
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

/** Whoever is not let in is not foreseen. */
function foreseenAnswer(
  foreseen: AccessForecast | undefined,
  ended: string | null,
  grants: ReadonlyMap<string, NonNullable<ForeseenAnswer['grant']>>,
): ForeseenAnswer {
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

type Matrix = Output<typeof capabilityMatrix>;

/** One reading for each caller, whatever the number of tools. */
export async function matrix(subjects: Subjects, offer: GrantOffer, ctx: CallContext, page: Input<typeof capabilityMatrix>): Promise<Matrix> {
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

type GrantView = z.input<typeof grantView>;

export async function viewGrants<const Rows extends readonly GrantRow[]>(
  db: Db,
  subjects: Subjects,
  viewer: Principal,
  grants: Rows,
  now: number,
): Promise<{ [Row in keyof Rows]: GrantView }> {
  const named = grants.flatMap(({ subject, granted_by }) => [subject, granted_by]);
  const name = await subjects.names(db, viewer.workspace, viewer, [...new Set(named)]);
  // By their ids private people could be told apart; the operator of the server reads the store anyway.
  const shown = (subject: string): string => (viewer.kind !== 'operator' && name(subject) === subjects.hidden ? subjects.hidden : subject);
  const viewGrant = (grant: GrantRow): GrantView =>
    view(grantView, grant, {
      grant_id: grant.id,
      subject: shown(grant.subject),
      subject_name: name(grant.subject),
      status: grantStatus(grant, now),
      granted_by: shown(grant.granted_by),
      granted_by_name: name(grant.granted_by),
      granted_at: grant.created_at,
    });
  return grants.map(viewGrant) as { [Row in keyof Rows]: GrantView };
}

/** At most one of them; none is the operator. */
export interface NamedSubject {
  developer?: string;
  token?: string;
  instance?: string;
}

/** Somebody who could call, as the gate would see them. */
export interface Caller {
  readonly principal: Principal;
  readonly subject: string;
  /** As `codex@mira`. */
  readonly name: string;
  /** Of the token; empty where there is none, or it is not for who looks. */
  readonly label: string;
  /** Set where their token lets them in no more: why. */
  readonly ended: string | null;
}

export interface CallersPage {
  readonly callers: readonly Caller[];
  readonly total: number;
}

/** Who can hold grants is identity's knowledge; `features/index.ts` wires it. */
export interface Subjects {
  /** The subject that the input names, checked to exist. */
  resolve(db: Db, workspace: string, named: NamedSubject): Promise<string>;
  /** How a person would call them, as far as `viewer` may know. */
  names(db: Db, workspace: string, viewer: Principal, subjects: readonly string[]): Promise<(subject: string) => string>;
  /** What `names` calls whoever the viewer may not know. */
  readonly hidden: string;
  /** Who would use the grants of the subject: a developer's tokens, an instance's, the one token, or the operator. */
  callersOf(db: Db, viewer: Principal, subject: string, now: number): Promise<CallersPage>;
  /** Everybody who could call now: all to the operator, their own to a developer. */
  callers(db: Db, viewer: Principal, page: { readonly limit: number; readonly offset: number }, now: number): Promise<CallersPage>;
}
