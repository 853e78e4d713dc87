import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { toolNamed } from '../../../kernel/registry.ts';
import { notFound, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { capabilityMatrix, explainCapability, grantCapability, listCapabilities, revokeCapability } from './contract.ts';
import { accessMatrix, explainAccess } from './explain.ts';
import { giveGrant, takeGrant, viewGrants } from './grants.ts';
import type { GrantOffer, NamedSubject, Subjects } from './ports.ts';
import { findGrants, grantsIn, pageOfGrants } from './store.ts';

export function capabilityTools(subjects: Subjects, offer: GrantOffer): Implementation[] {
  return [
    implement(grantCapability, {
      write: async (tx, { action, scope = {}, expires_in_minutes, ...named }, ctx) => {
        const subject = await subjects.resolve(tx.db, tx.workspace, oneSubject(named));
        const bounds = expires_in_minutes === undefined ? scope : { ...scope, expires_at: tx.now + expires_in_minutes * 60_000 };
        const grant = await giveGrant(tx, { subject, action, scope: bounds, by: ctx.principal.actor });
        const [shown] = await viewGrants(tx.db, subjects, ctx.principal, [grant], tx.now);
        return ok(shown, `Granted ${action}.${isUnknown(offer, tx.workspace, action) ? ' Warning: no tool has this name now.' : ''}`);
      },
    }),
    implement(revokeCapability, {
      write: async (tx, { action, grant_id, ...named }, ctx) => {
        if (grant_id && (action || Object.values(named).some((name) => name !== undefined))) {
          throw new Refusal(
            'INVALID_INPUT',
            '`grant_id` already names one grant, so `action` and subject cannot be combined with it.',
            'Repeat the call with `grant_id` alone.',
            {
              field: 'grant_id',
            },
          );
        }
        const grants = grant_id
          ? [await findBySuffix(grantsIn(tx.db, tx.workspace), grant_id, 'grant')]
          : await grantsToRevoke(tx, action, await subjects.resolve(tx.db, tx.workspace, oneSubject(named)));
        const standing = grants.filter((grant) => grant.revoked_at === null);
        if (standing.length === 0) {
          throw notFound(
            'GRANT_NOT_FOUND',
            'No matching grant exists, or it is already revoked.',
            'Run `covenant capabilities list` for grants and their status.',
          );
        }
        for (const grant of standing) await takeGrant(tx, grant, ctx);
        return ok({ revoked: standing.map((grant) => grant.id) }, `Revoked ${standing.length} grant(s).`);
      },
    }),
    implement(listCapabilities, {
      read: async ({ grant_id, limit, text, status, before, ...named }, { reader, workspace, principal, clock }) => {
        const now = clock.now();
        const subject = Object.values(named).some((name) => name !== undefined) ? await subjects.resolve(reader, workspace, oneSubject(named)) : undefined;
        const rows =
          grant_id === undefined
            ? await pageOfGrants(reader, workspace, { subject, text, status, before }, now, limit + 1)
            : [await findBySuffix(grantsIn(reader, workspace), grant_id, 'grant')];
        return ok({ items: await viewGrants(reader, subjects, principal, rows.slice(0, limit), now), more: rows.length > limit });
      },
    }),
    implement(explainCapability, { read: async ({ name, ...named }, ctx) => ok(await explainAccess(subjects, offer, ctx, oneSubject(named), name)) }),
    implement(capabilityMatrix, { read: async (page, ctx) => ok(await accessMatrix(subjects, offer, ctx, page)) }),
  ];
}

/** A tool of a server that does not serve this workspace must look like an unknown name. */
function isUnknown(offer: GrantOffer, workspace: string, action: string): boolean {
  const [, name] = /^tool\.call\.(.+)$/.exec(action) ?? [];
  return name !== undefined && !offer.tools(workspace).some((tool) => tool.name === toolNamed(name));
}

async function grantsToRevoke(tx: Tx, action: string | undefined, subject: string): Promise<GrantRow[]> {
  if (!action)
    throw new Refusal('INVALID_INPUT', 'Neither `action` nor `grant_id` was given.', 'Run `covenant capabilities list`, then revoke by `grant_id`.', {
      field: 'action',
    });
  return await findGrants(tx.db, tx.workspace, [subject], [action]);
}

function oneSubject(named: { readonly [Kind in keyof NamedSubject]: string | undefined }): NamedSubject {
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const names = given.map(([key]) => `\`${key}\``).join(' and ');
    throw new Refusal('INVALID_INPUT', `${names} cannot be combined: name one subject.`, 'Repeat the call with one of `developer`, `token` and `instance`.', {
      field: given[1]?.[0],
    });
  }
  return Object.fromEntries(given) as NamedSubject;
}
