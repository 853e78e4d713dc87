import { record, type WriteContext } from '../../../kernel/call.ts';
import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { toolNamed } from '../../../kernel/registry.ts';
import { notFound, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { insertRows, newId } from '../../../storage/rows.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { explain, type GrantOffer, matrix, type Subjects, viewGrants } from './answers.ts';
import { capabilityMatrix, explainCapability, type GrantScope, grantCapability, listCapabilities, revokeCapability } from './contract.ts';
import { findGrants, grantsIn, pageOfGrants, revokeGrant } from './store.ts';

export function capabilityTools(subjects: Subjects, offer: GrantOffer): Implementation[] {
  return [
    implement(grantCapability, {
      write: async (tx, { action, scope = {}, expires_in_minutes, ...named }, ctx) => {
        const subject = await subjects.resolve(tx.db, tx.workspace, oneOf(named));
        const bounds = expires_in_minutes === undefined ? scope : { ...scope, expires_at: tx.now + expires_in_minutes * 60_000 };
        const grant = await giveGrant(tx, { subject, action, scope: bounds, by: ctx.principal.actor });
        const [shown] = await viewGrants(tx.db, subjects, ctx.principal, [grant], tx.now);
        return ok(shown, `Granted ${action}.${isUnknown(offer, tx.workspace, action) ? ' There is no tool of this name now.' : ''}`);
      },
    }),
    implement(revokeCapability, {
      write: async (tx, { action, grant_id, ...named }, ctx) => {
        if (grant_id && (action || Object.values(named).some((name) => name !== undefined))) {
          throw new Refusal('INVALID_INPUT', 'grant_id: names one grant; an action or subject beside it says nothing.', 'Give grant_id alone.', {
            field: 'grant_id',
          });
        }
        const grants = grant_id
          ? [await findBySuffix(grantsIn(tx.db, tx.workspace), grant_id, 'grant')]
          : await grantsToRevoke(tx, action, await subjects.resolve(tx.db, tx.workspace, oneOf(named)));
        const standing = grants.filter((grant) => grant.revoked_at === null);
        if (standing.length === 0) {
          throw notFound('GRANT_NOT_FOUND', 'There is no such grant that is not already revoked.', 'covenant capabilities list');
        }
        for (const grant of standing) await takeGrant(tx, grant, ctx);
        return ok({ revoked: standing.map((grant) => grant.id) }, `Revoked ${standing.length} grant(s).`);
      },
    }),
    implement(listCapabilities, {
      read: async ({ grant_id, limit, text, status, before, ...named }, { reader, workspace, principal, clock }) => {
        const now = clock.now();
        const subject = Object.values(named).some((name) => name !== undefined) ? await subjects.resolve(reader, workspace, oneOf(named)) : undefined;
        const rows =
          grant_id === undefined
            ? await pageOfGrants(reader, workspace, { subject, text, status, before }, now, limit + 1)
            : [await findBySuffix(grantsIn(reader, workspace), grant_id, 'grant')];
        return ok({ items: await viewGrants(reader, subjects, principal, rows.slice(0, limit), now), more: rows.length > limit });
      },
    }),
    implement(explainCapability, { read: async ({ name, ...named }, ctx) => ok(await explain(subjects, offer, ctx, oneOf(named), name)) }),
    implement(capabilityMatrix, { read: async (page, ctx) => ok(await matrix(subjects, offer, ctx, page)) }),
  ];
}

/** Of a server that does not serve the workspace it is said like of any other name. */
function isUnknown(offer: GrantOffer, workspace: string, action: string): boolean {
  const [, name] = /^tool\.call\.(.+)$/.exec(action) ?? [];
  return name !== undefined && !offer.tools(workspace).some((tool) => tool.name === toolNamed(name));
}

async function giveGrant(tx: Tx, given: { subject: string; action: string; scope?: GrantScope; by: string }): Promise<GrantRow> {
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

/** What a token may use from the start: ordinary grants, to be revoked one by one. */
export const PROFILES = {
  developer: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  agent: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  web: ['toolset.team', 'toolset.workflow', 'toolset.cycle'],
  instance: ['toolset.review', 'toolset.team', 'toolset.workflow'],
  operator: [],
} as const satisfies Record<string, readonly string[]>;

/** The grants that a fresh token of this kind starts with. */
export async function giveProfile(tx: Tx, kind: keyof typeof PROFILES, subject: string, by: string): Promise<void> {
  for (const action of PROFILES[kind]) await giveGrant(tx, { subject, action, by });
}

async function takeGrant(tx: Tx, grant: GrantRow, ctx: WriteContext): Promise<void> {
  await revokeGrant(tx.db, tx.workspace, grant.id, ctx.principal.actor, tx.now);
  record(tx, ctx, { category: 'audit', kind: 'capability_revoked', subject: grant.subject, payload: { grant_id: grant.id, action: grant.action } });
}

async function grantsToRevoke(tx: Tx, action: string | undefined, subject: string): Promise<GrantRow[]> {
  if (!action) throw new Refusal('INVALID_INPUT', 'Name the action or the grant_id to revoke.', 'covenant capabilities list', { field: 'action' });
  return await findGrants(tx.db, tx.workspace, [subject], [action]);
}

function oneOf<T extends { developer?: string | undefined; token?: string | undefined; instance?: string | undefined }>(named: T) {
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    throw new Refusal('INVALID_INPUT', `Name one subject, not ${given.map(([key]) => key).join(' and ')}.`, 'Give developer, token or instance.', {
      field: given[1]?.[0],
    });
  }
  return Object.fromEntries(given) as { developer?: string; token?: string; instance?: string };
}
