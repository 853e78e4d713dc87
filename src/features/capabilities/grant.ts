import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Toolset } from '../../kernel/contract.ts';
import { readJson } from '../../storage/columns.ts';
import type { GrantRow } from './tables.ts';

export const grantScope = z.strictObject({
  max_uses: z.int().min(1).max(1_000_000_000).optional().describe('How many calls the grant allows in all.'),
  expires_at: z.int().min(0).optional().describe('Epoch milliseconds; the grant still holds in that millisecond.'),
  arguments: z
    .strictObject({ allow: z.array(z.record(z.string(), z.unknown())).min(1).max(100) })
    .optional()
    .describe('The whole argument object must equal one entry.'),
});
export type GrantScope = z.output<typeof grantScope>;

/** In rising precedence: where several apply, the later is shown. */
export const GRANT_STATUSES = ['live', 'exhausted', 'expired', 'revoked'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

export function grantStatus(grant: GrantRow, now: number): GrantStatus {
  if (grant.revoked_at !== null) return 'revoked';
  if (grant.expires_at !== null && now > grant.expires_at) return 'expired';
  if (grant.max_uses !== null && grant.uses >= grant.max_uses) return 'exhausted';
  return 'live';
}

export function allowsArguments(grant: GrantRow, args: unknown): boolean {
  const allowed = readJson(grantScope, grant.scope).arguments?.allow;
  return allowed === undefined || allowed.some((entry) => isDeepStrictEqual(entry, args ?? {}));
}

/** `tool.call.<name>`, or a toolset of native coordination tools. Compared exactly: there are no wildcards. */
export const actionName = z
  .string()
  .max(200)
  .regex(/^(tool\.call\.[A-Za-z0-9_.-]{1,128}|toolset\.(team|review|workflow|cycle))$/, {
    error: 'expected tool.call.<tool name>, or toolset.team, toolset.review, toolset.workflow or toolset.cycle',
  });

/** Toolsets that a grant can name. Gateway tools are granted one by one. */
const COORDINATION: ReadonlySet<Toolset> = new Set(['team', 'review', 'workflow', 'cycle']);

/** The actions of which any one opens the tool. */
export function actionsFor(tool: string, toolset: Toolset | undefined): string[] {
  const exact = `tool.call.${tool}`;
  return toolset && COORDINATION.has(toolset) ? [exact, `toolset.${toolset}`] : [exact];
}

/** What a token may use from the start: ordinary grants, to be revoked one by one. */
export const PROFILES = {
  developer: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  agent: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  web: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  instance: ['toolset.review', 'toolset.team', 'toolset.workflow'],
  operator: [],
} as const satisfies Record<string, readonly string[]>;
