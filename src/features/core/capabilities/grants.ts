import type { z } from 'zod';
import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { insertRows, newId, view } from '../../../storage/rows.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type GrantScope, grantView } from './contract.ts';
import { grantStatus } from './gate.ts';
import type { Subjects } from './ports.ts';
import { revokeGrant } from './store.ts';

export async function giveGrant(tx: Tx, given: { subject: string; action: string; scope?: GrantScope; by: string }): Promise<GrantRow> {
  const scope = given.scope ?? {};
  const grant: GrantRow = {
    workspace_id: tx.workspace,
    id: newId('grant', tx.now),
    subject: given.subject,
    action: given.action,
    scope: JSON.stringify(scope),
    max_uses: scope.max_uses ?? null,
    uses: 0,
    expires_at: scope.expires_at ?? null,
    recent: null,
    revision: 1,
    granted_by: given.by,
    created_at: tx.now,
    revoked_at: null,
    revoked_by: null,
  };
  await insertRows(tx.db, 'grants', grant);
  tx.append({
    category: 'audit',
    kind: 'capability_granted',
    actor: given.by,
    subject: given.subject,
    payload: {
      grant_id: grant.id,
      action: grant.action,
      max_uses: grant.max_uses,
      expires_at: grant.expires_at,
      arguments_bound: scope.arguments !== undefined,
      max_per_minute: scope.max_per_minute ?? null,
      approve: scope.approve ?? false,
    },
  });
  return grant;
}

export async function takeGrant(tx: Tx, grant: GrantRow, ctx: WriteContext): Promise<void> {
  await revokeGrant(tx.db, tx.workspace, grant.id, ctx.principal.actor, tx.now);
  record(tx, ctx, { category: 'audit', kind: 'capability_revoked', subject: grant.subject, payload: { grant_id: grant.id, action: grant.action } });
}

/** The capabilities that a new token gets, by kind of token. They are ordinary grants, which can be revoked one by one. */
export const PROFILES = {
  developer: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  agent: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  web: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  instance: ['toolset.review', 'toolset.team', 'toolset.workflow'],
  operator: [],
} as const satisfies Record<string, readonly string[]>;

/** Creates the initial grants for a new token of this kind. */
export async function giveProfile(tx: Tx, kind: keyof typeof PROFILES, subject: string, by: string): Promise<void> {
  for (const action of PROFILES[kind]) await giveGrant(tx, { subject, action, by });
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
  // Ids are hidden because they could identify private developers. The server's operator gets them, because they can read the database anyway.
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
