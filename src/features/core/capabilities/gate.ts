import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Principal, Services } from '../../../kernel/call.ts';
import type { Toolset } from '../../../kernel/contract.ts';
import { workspaceFlag } from '../../../kernel/ids.ts';
import type { AccessDecision, AccessRequest, Denied, Passed, Ports, PriorDecision } from '../../../kernel/ports.ts';
import { capabilityFor, namespaceOf, type Registry } from '../../../kernel/registry.ts';
import { refused } from '../../../kernel/reply.ts';
import type { NewEvent } from '../../../storage/journal.ts';
import { findRow, readJson } from '../../../storage/rows.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { actionName, type GrantStatus, grantScope } from './contract.ts';
import { byAge, countUse, findGrants, grantsOf, type StandingGrant, standingGrants } from './store.ts';

/** The only tool that needs no grant, because clients use it to check that the server is alive. */
const EXEMPT = 'clock';

export interface Gate {
  authorize: Ports['authorize'];
  /** Returns which tools, prompts and resources this caller may use, for lists. */
  visibility(principal: Principal): Promise<Visibility>;
  /**
   * Returns what the gate would decide about a tool call now, without counting a use or asking a person. `only`: the one tool to
   * prepare the answer for.
   */
  foresee(principal: Principal, only?: string): Promise<(tool: string) => AccessForecast>;
}

export interface AccessForecast {
  readonly verdict: AccessDecision;
  /** The grant that allows the call. Null: the call is denied or needs no grant. */
  readonly grant: GrantRow | null;
}

interface Visibility {
  tool(name: string, toolset: Toolset): boolean;
  prompt(name: string): boolean;
  /** Whether the caller may read resources of this server. A grant covers all resources of a server. */
  resource(server: string): boolean;
}

/** Returns the agent type of an agent that the server has started, or undefined for every other caller. */
export type AgentTypeOf = (principal: Principal) => Promise<string | undefined>;

export function createGate(services: Services, registry: Pick<Registry, 'toolsetOf' | 'isForType'>, agentTypeOf: AgentTypeOf): Gate {
  const actionsOpening = ({ noun, name, toolset }: Pick<AccessRequest, 'noun' | 'name' | 'toolset'>): string[] =>
    actionsFor(noun, name, noun === 'tool' ? (toolset ?? registry.toolsetOf(name) ?? namespaceOf(name)) : undefined);
  return {
    async authorize(principal, asked, settled = {}) {
      if (isExempt(asked)) return passed(principal, asked, null);
      const actions = actionsOpening(asked);
      const { reader, access } = services.store;
      // The key is written as JSON, because the caller chooses the name, and a name that contains a separator must not look like two actions.
      const key = JSON.stringify(['grants', principal.workspace, principal.subjects, actions]);
      const grants = await access.get(key, () => findGrants(reader, principal.workspace, principal.subjects, actions));
      return decide(principal, asked, settled, grants, services.clock.now());
    },
    async visibility(principal) {
      const now = services.clock.now();
      const { reader, access } = services.store;
      const key = JSON.stringify(['grants', principal.workspace, principal.subjects]);
      const grants = await access.get(key, () => grantsOf(reader, principal.workspace, principal.subjects));
      const type = await agentTypeOf(principal);
      const actions = new Set(grants.filter((grant) => grantStatus(grant, now) === 'live').map((grant) => grant.action));
      const opens = (noun: AccessRequest['noun'], name: string, toolset?: Toolset) => actionsFor(noun, name, toolset).some((action) => actions.has(action));
      return {
        tool: (name, toolset) => name === EXEMPT || (opens('tool', name, toolset) && (type === undefined || registry.isForType(name, type))),
        prompt: (name) => opens('prompt', name),
        resource: (server) => opens('resource', server),
      };
    },
    async foresee(principal, only) {
      const { reader } = services.store;
      const { workspace, subjects } = principal;
      const found = only === undefined ? standingGrants(reader, workspace, subjects) : findGrants(reader, workspace, subjects, actionsOpening(toolCall(only)));
      const byAction = Map.groupBy(await found, ({ action }) => action);
      return (tool) => {
        const asked = toolCall(tool);
        if (isExempt(asked)) return { verdict: passed(principal, asked, null), grant: null };
        const grants = actionsOpening(asked).flatMap((action) => byAction.get(action) ?? []);
        return foreseen(principal, asked, grants.sort(byAge), services.clock.now());
      };
    },
  };
}

/** Stands for arguments that no list of allowed arguments contains. */
const SOME = Symbol('some arguments');
const toolCall = (name: string): AccessRequest => ({ noun: 'tool', name, args: SOME, redactedArgs: SOME, toolset: undefined });

/** Decides about a call with arbitrary arguments. If this is denied, decides about calls with the first arguments that each grant allows. */
function foreseen(principal: Principal, asked: AccessRequest, grants: readonly GrantRow[], now: number): AccessForecast {
  const bound = grants.flatMap((grant) => argumentsOf(grant)?.slice(0, 1) ?? []);
  const verdicts = [SOME, ...bound].map((args) => decide(principal, { ...asked, args, redactedArgs: args }, {}, grants, now));
  const verdict = verdicts.find(({ allowed }) => allowed) ?? (verdicts.at(-1) as AccessDecision);
  return { verdict, grant: grants.find(({ id }) => verdict.allowed && id === verdict.grant?.id) ?? null };
}

const isExempt = ({ noun, name }: AccessRequest): boolean => noun === 'tool' && name === EXEMPT;

/** Chooses the grant for a call. A grant without limits is used before a grant that counts its uses, and a grant that needs approval is used last. */
function decide(principal: Principal, asked: AccessRequest, { approved, resumed }: PriorDecision, all: readonly GrantRow[], now: number): AccessDecision {
  // An approval or a round belongs to one grant, so the call cannot continue with another grant.
  const settled = approved ?? resumed;
  const grants = settled === undefined ? all : all.filter(({ id }) => id === settled);
  if (resumed !== undefined) {
    const [grant] = grants;
    const stands = grant && !['revoked', 'expired'].includes(grantStatus(grant, now)) && allowsArguments(grant, asked);
    return stands ? passed(principal, asked, grant) : denied(principal, asked, whyDenied(grants, now));
  }
  const usable = grants.filter((grant) => grantStatus(grant, now) === 'live' && allowsArguments(grant, asked));
  if (usable.length === 0) return denied(principal, asked, whyDenied(grants, now));
  const unasked = usable.filter((grant) => approved !== undefined || asked.aside !== undefined || approverOf(grant) === undefined);
  const free = unasked.find((grant) => !isCounted(grant));
  if (free) return passed(principal, asked, free);
  const withinRate = (some: readonly GrantRow[]) => some.filter((grant) => waitForRate(grant, now) === 0);
  const [first, ...more] = withinRate(unasked);
  if (first) return { ...passed(principal, asked, first), consume: (tx) => consumeFirst(tx, principal, asked, [first, ...more]) };
  // Do not ask a person about a call that the rate would refuse after the approval.
  const [toApprove] = withinRate(usable);
  if (toApprove) return { ...passed(principal, asked, toApprove, 'required'), approve: approverOf(toApprove) };
  return tooOften(principal, asked, Math.min(...usable.map((grant) => waitForRate(grant, now))));
}

/** Checks a grant and counts its use in one step, so that simultaneous calls cannot use a grant more often than it allows. */
async function consumeFirst(tx: Tx, principal: Principal, asked: AccessRequest, grants: readonly GrantRow[]): Promise<AccessDecision> {
  let wait: number | undefined;
  let reason: string | undefined;
  for (const { id } of grants) {
    const grant = await findRow(tx.db, 'grants', { workspace_id: tx.workspace, id });
    if (!grant) continue;
    const ms = waitForRate(grant, tx.now);
    if (grantStatus(grant, tx.now) === 'live' && ms === 0) {
      return passed(principal, asked, isCounted(grant) ? await countUse(tx.db, tx.workspace, id, recentAfter(grant, tx.now)) : grant);
    }
    if (grantStatus(grant, tx.now) === 'live') wait = Math.min(wait ?? ms, ms);
    reason ??= whyDenied([grant], tx.now);
  }
  return wait === undefined ? denied(principal, asked, reason) : tooOften(principal, asked, wait);
}

const tooOften = (principal: Principal, asked: AccessRequest, wait: number): Denied =>
  denied(principal, asked, 'its grant has reached its limit of calls per minute', wait);

function passed(principal: Principal, asked: AccessRequest, grant: GrantRow | null, approval?: 'required'): Passed {
  return {
    allowed: true,
    grant: grant && { id: grant.id, revision: grant.revision },
    check: checkEvent(principal, asked, true, grant, approval),
  };
}

/** Returns the denial of a call. The refusal must be the same for a tool that exists and for a tool that does not. */
function denied(principal: Principal, asked: AccessRequest, reason: string | undefined, retryAfterMs?: number): Denied {
  const capability = capabilityFor(asked.noun, asked.name);
  const who = principal.kind === 'operator' ? 'the operator' : `this ${principal.kind} token`;
  const message = `Denied: ${who} lacks ${capability}${reason ? ` (${reason})` : ''}.`;
  const check = checkEvent(principal, asked, false, null);
  if (retryAfterMs !== undefined) {
    const next = `Repeat the call in ${Math.ceil(retryAfterMs / 1000)} s.`;
    return { allowed: false, check, reply: refused('error', 'CAPABILITY_DENIED', message, next, { capability, retry_after_ms: retryAfterMs }) };
  }
  // The command is omitted for an invalid name, because the caller chooses the name and people paste the command into a shell.
  const command = actionName.safeParse(capability).success ? `covenant capabilities grant ${capability}${subjectFlags(principal)}` : null;
  const next =
    command === null
      ? `No ${asked.noun} can have this name. Call \`${asked.noun}s/list\` for valid names.`
      : principal.kind === 'operator'
        ? `Run \`${command}\`, then repeat the call.`
        : `Ask the operator to run \`${command}\`, then repeat the call.`;
  return { allowed: false, check, reply: refused('error', 'CAPABILITY_DENIED', message, next, { capability, command }) };
}

function subjectFlags(principal: Principal): string {
  const subject = principal.kind === 'operator' ? '' : ` --token ${principal.tokenId}`;
  return subject + workspaceFlag(principal.workspace);
}

function whyDenied(grants: readonly GrantRow[], now: number): string | undefined {
  const statuses = new Set(grants.map((grant) => grantStatus(grant, now)));
  if (statuses.has('live')) return 'its grant does not allow these arguments';
  if (statuses.has('exhausted')) return 'its grant is used up';
  if (statuses.has('expired')) return 'its grant has expired';
  if (statuses.has('revoked')) return 'its grant was revoked';
  return undefined;
}

function checkEvent(principal: Principal, asked: AccessRequest, ok: boolean, grant: GrantRow | null, approval?: 'required'): NewEvent {
  const required = isExempt(asked) ? [] : [capabilityFor(asked.noun, asked.name)];
  const subject = `${asked.noun}:${asked.name}`;
  return {
    category: 'audit',
    kind: 'CapabilityCheck',
    actor: principal.actor,
    subject,
    // The keys are in the order of canonical JSON, which is faster to serialize.
    payload: {
      agent_id: subject,
      approval,
      authorized_by: grant ? [{ action: grant.action, grant_id: grant.id, granted_by: grant.granted_by, revision: grant.revision }] : [],
      missing_actions: ok ? [] : required,
      passed: ok,
      required_actions: required,
      token_id: principal.tokenId,
    },
  };
}

export function grantStatus(grant: StandingGrant, now: number): GrantStatus {
  if (grant.revoked_at !== null) return 'revoked';
  if (grant.expires_at !== null && now > grant.expires_at) return 'expired';
  if (grant.max_uses !== null && grant.uses >= grant.max_uses) return 'exhausted';
  return 'live';
}

/**
 * Compares each allowed entry with the arguments as the caller sent them, and with the arguments as they are stored. The stored
 * arguments contain no secret, but they include the default repository that the caller's client reported.
 */
export function allowsArguments(grant: GrantRow, { args, redactedArgs }: Pick<AccessRequest, 'args' | 'redactedArgs'>): boolean {
  const allowed = argumentsOf(grant);
  return allowed === undefined || allowed.some((entry) => isDeepStrictEqual(entry, args ?? {}) || isDeepStrictEqual(entry, redactedArgs ?? {}));
}

/** Returns the arguments that the grant allows. Undefined: the grant allows any arguments. */
export const argumentsOf = (grant: GrantRow): Record<string, unknown>[] | undefined => readJson(grantScope, grant.scope).arguments?.allow;

/** Returns who can approve a call: only a person at this server, or also the user of the caller's client. Undefined: no approval is needed. */
export function approverOf(grant: GrantRow): 'person' | 'client' | undefined {
  const { approve } = readJson(grantScope, grant.scope);
  return approve === 'client' ? 'client' : approve ? 'person' : undefined;
}

const MINUTE_MS = 60_000;
const times = z.array(z.int());

const timesOf = (grant: GrantRow): number[] => (grant.recent === null ? [] : readJson(times, grant.recent));

/** Whether each call with this grant must be counted. */
export const isCounted = (grant: GrantRow): boolean => grant.max_uses !== null || rateOf(grant) !== undefined;

const rateOf = (grant: GrantRow): number | undefined => readJson(grantScope, grant.scope).max_per_minute;

/**
 * Returns the milliseconds until the grant's rate allows another call, or 0 if it allows a call now. The rate applies to any
 * period of 60 seconds, not to each minute of the clock.
 */
export function waitForRate(grant: GrantRow, now: number): number {
  const rate = rateOf(grant);
  if (rate === undefined) return 0;
  const counted = timesOf(grant).filter((time) => time > now - MINUTE_MS);
  if (counted.length < rate) return 0;
  return (counted.at(-rate) as number) + MINUTE_MS - now;
}

/**
 * Returns the times of the last calls, including this one. They are sorted, because the clocks of several servers may differ.
 * Null for a grant without a rate.
 */
export function recentAfter(grant: GrantRow, now: number): string | null {
  const rate = rateOf(grant);
  if (rate === undefined) return null;
  return JSON.stringify([...timesOf(grant), now].sort((a, b) => a - b).slice(-rate));
}

/** Toolsets that a grant can name. Gateway tools are granted one by one. */
const COORDINATION: ReadonlySet<Toolset> = new Set(['team', 'review', 'workflow', 'cycle']);

/** Returns the actions that allow the call. A grant for one of them is enough. */
export function actionsFor(noun: AccessRequest['noun'], name: string, toolset: Toolset | undefined): string[] {
  const exact = capabilityFor(noun, name);
  return noun === 'tool' && toolset && COORDINATION.has(toolset) ? [exact, `toolset.${toolset}`] : [exact];
}
