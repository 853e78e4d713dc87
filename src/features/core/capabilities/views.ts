import type { z } from 'zod';
import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { view } from '../../../storage/rows.ts';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import { grantView } from './contract.ts';
import { grantStatus } from './gate.ts';
import type { Subjects } from './ports.ts';

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
