import type { z } from 'zod';
import type { Principal } from '../../../kernel/context.ts';
import { readJson } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import type { grantView } from './contract.ts';
import { grantScope, grantStatus } from './grant.ts';
import type { Subjects } from './subjects.ts';

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
  const view = (grant: GrantRow): GrantView => ({
    grant_id: grant.id,
    subject: shown(grant.subject),
    subject_name: name(grant.subject),
    action: grant.action,
    scope: readJson(grantScope, grant.scope),
    uses: grant.uses,
    status: grantStatus(grant, now),
    granted_by: shown(grant.granted_by),
    granted_by_name: name(grant.granted_by),
    granted_at: grant.created_at,
    revision: grant.revision,
  });
  return grants.map(view) as { [Row in keyof Rows]: GrantView };
}
