import { nameOf, ownerOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import { readJson } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import type { OverlapWarningRow } from '../../../storage/schema-rows.ts';
import { namesFor, PRIVATE } from '../../core/identity/index.ts';
import { shownTo } from './candidates.ts';
import { readMatches } from './checks.ts';
import { scopeVerdict, type showOverlap } from './contract.ts';
import { resolversOf, verdictsOf } from './warnings.ts';

/** A stored warning as a viewer may see it. */
export const warningView = (row: OverlapWarningRow, name: (developerId: string) => string) => ({
  warning_id: row.id,
  kind: row.kind,
  title: row.title,
  developer: name(row.developer_id),
  subject_id: row.subject_id,
  level: row.level,
  status: row.status,
  reason: row.reason,
  matches: readMatches(row).map(shownTo(name)),
  created_at: row.created_at,
  resolved_at: row.resolved_at,
});

type OverlapView = Output<typeof showOverlap>['overlap'];

/** The same with what was judged, and by whom. */
export async function viewOverlaps(db: Db, workspace: string, viewer: Principal, warnings: readonly OverlapWarningRow[]): Promise<OverlapView[]> {
  const name = await namesFor(db, workspace, viewer);
  const ids = warnings.map(({ id }) => id);
  const verdicts = await verdictsOf(db, workspace, ids);
  const resolvers = await resolversOf(db, workspace, ids, [...new Set([...verdicts.values()].map(({ subject_id }) => subject_id))]);
  return warnings.map((row) => {
    const verdict = verdicts.get(row.id);
    const resolver = row.resolved_at === null ? undefined : resolvers.get(row.id);
    return {
      ...warningView(row, name),
      mine: row.developer_id === viewer.developerId,
      verdict: verdict?.verdict ?? null,
      judgements: verdict ? readJson(scopeVerdict.shape.candidates, verdict.candidates) : [],
      judged_by: resolver === undefined ? null : called(resolver, name(row.developer_id), name),
    };
  });
}

/** An instance works for whoever was warned. */
function called(actor: string, warned: string, name: (developerId: string) => string): string {
  const owner = ownerOf(actor);
  if (owner === null ? warned === PRIVATE && actor.startsWith('instance:') : name(owner) === PRIVATE) return PRIVATE;
  return nameOf(actor, name);
}
