import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Toolset } from '../../../kernel/contract.ts';
import type { AccessRequest } from '../../../kernel/ports.ts';
import { permissionOf } from '../../../kernel/registry.ts';
import { readJson } from '../../../storage/columns.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';

/** What decides whether a grant stands. */
export type StandingGrant = Pick<GrantRow, 'action' | 'revoked_at' | 'expires_at' | 'max_uses' | 'uses'>;

export const grantScope = z.strictObject({
  max_uses: z.int().min(1).max(1_000_000_000).optional().describe('How many calls the grant allows in all.'),
  max_per_minute: z.int().min(1).max(600).optional().describe('How many calls the grant allows in any 60 seconds.'),
  expires_at: z.int().min(0).optional().describe('Epoch milliseconds; the grant still holds in that millisecond.'),
  arguments: z
    .strictObject({ allow: z.array(z.record(z.string(), z.unknown())).min(1).max(100) })
    .optional()
    .describe('The whole argument object must equal one entry.'),
  approve: z
    .union([z.boolean(), z.literal('client')], { error: 'expected true, false or "client"' })
    .optional()
    .describe(
      'true: each call waits until a person has approved it, on the dashboard or at the command line. "client": the caller’s own client may approve it too.',
    ),
});
export type GrantScope = z.output<typeof grantScope>;

/** In rising precedence: where several apply, the later is shown. */
export const GRANT_STATUSES = ['live', 'exhausted', 'expired', 'revoked'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

export function grantStatus(grant: StandingGrant, now: number): GrantStatus {
  if (grant.revoked_at !== null) return 'revoked';
  if (grant.expires_at !== null && now > grant.expires_at) return 'expired';
  if (grant.max_uses !== null && grant.uses >= grant.max_uses) return 'exhausted';
  return 'live';
}

/** As they were sent, or as they are kept: an entry names no secret, and may name the repository that is only reported. */
export function allowsArguments(grant: GrantRow, { args, redactedArgs }: Pick<AccessRequest, 'args' | 'redactedArgs'>): boolean {
  const allowed = argumentsOf(grant);
  return allowed === undefined || allowed.some((entry) => isDeepStrictEqual(entry, args ?? {}) || isDeepStrictEqual(entry, redactedArgs ?? {}));
}

/** What a call's arguments may be, where the grant says. */
export const argumentsOf = (grant: GrantRow): Record<string, unknown>[] | undefined => readJson(grantScope, grant.scope).arguments?.allow;

/** Who has to approve a call: a person here, or whoever answers in the caller's client as well. Undefined: nobody. */
export function approverOf(grant: GrantRow): 'person' | 'client' | undefined {
  const { approve } = readJson(grantScope, grant.scope);
  return approve === 'client' ? 'client' : approve ? 'person' : undefined;
}

const MINUTE_MS = 60_000;
const times = z.array(z.int());

const timesOf = (grant: GrantRow): number[] => (grant.recent === null ? [] : readJson(times, grant.recent));

/** A call of this grant has to be counted when it is made. */
export const isCounted = (grant: GrantRow): boolean => grant.max_uses !== null || rateOf(grant) !== undefined;

const rateOf = (grant: GrantRow): number | undefined => readJson(grantScope, grant.scope).max_per_minute;

/** How long until the grant's rate lets another call through: 0 where it does now. Exact for any 60 seconds, not for clock minutes. */
export function waitForRate(grant: GrantRow, now: number): number {
  const rate = rateOf(grant);
  if (rate === undefined) return 0;
  const counted = timesOf(grant).filter((time) => time > now - MINUTE_MS);
  if (counted.length < rate) return 0;
  return (counted.at(-rate) as number) + MINUTE_MS - now;
}

/** The times of the last calls after one more, oldest first also where servers' clocks differ; null where the grant has no rate. */
export function recentAfter(grant: GrantRow, now: number): string | null {
  const rate = rateOf(grant);
  if (rate === undefined) return null;
  return JSON.stringify([...timesOf(grant), now].sort((a, b) => a - b).slice(-rate));
}

/** `tool.call.<name>` and its like, or a toolset of native coordination tools. Compared exactly: there are no wildcards. */
export const actionName = z
  .string()
  .max(200)
  .regex(/^((tool\.call|resource\.read|prompt\.get)\.[A-Za-z0-9_.-]{1,128}|toolset\.(team|review|workflow|cycle))$/, {
    error: 'expected tool.call.<tool>, resource.read.<server>, prompt.get.<prompt>, or toolset.team, toolset.review, toolset.workflow or toolset.cycle',
  })
  .overwrite((action) => (action.startsWith('tool.call.') ? capabilityFor('tool', action.slice('tool.call.'.length)) : action));

const VERBS = { tool: 'tool.call', resource: 'resource.read', prompt: 'prompt.get' } as const satisfies Record<AccessRequest['noun'], string>;

/** The capability that names exactly this. */
export const capabilityFor = (noun: AccessRequest['noun'], name: string): string => `${VERBS[noun]}.${noun === 'tool' ? permissionOf(name) : name}`;

/** Toolsets that a grant can name. Gateway tools are granted one by one. */
const COORDINATION: ReadonlySet<Toolset> = new Set(['team', 'review', 'workflow', 'cycle']);

/** The actions of which any one opens it. */
export function actionsFor(noun: AccessRequest['noun'], name: string, toolset: Toolset | undefined): string[] {
  const exact = capabilityFor(noun, name);
  return noun === 'tool' && toolset && COORDINATION.has(toolset) ? [exact, `toolset.${toolset}`] : [exact];
}

/** What a token may use from the start: ordinary grants, to be revoked one by one. */
export const PROFILES = {
  developer: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  agent: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  web: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  instance: ['toolset.review', 'toolset.team', 'toolset.workflow'],
  operator: [],
} as const satisfies Record<string, readonly string[]>;
