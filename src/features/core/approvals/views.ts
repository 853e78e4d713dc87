import type { z } from 'zod';
import { agentTypeOf, ownerOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/context.ts';
import type { Db } from '../../../storage/engine.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import { namesFor, PRIVATE } from '../identity/index.ts';
import type { approvalView } from './contract.ts';
import { readKept } from './kept-arguments.ts';

type ApprovalView = z.input<typeof approvalView>;

export interface ApprovalViewer {
  view(row: ApprovalRow): ApprovalView;
  /** How whoever decided is called. */
  decider(row: ApprovalRow): string | null;
}

/** Who asks and who decided, by name, as far as `viewer` may know: which agent a private developer uses may tell who it is. */
export async function approvalViewer(db: Db, workspace: string, viewer: Principal): Promise<ApprovalViewer> {
  const name = await namesFor(db, workspace, viewer);
  const decider = ({ decided_by }: ApprovalRow): string | null => {
    if (decided_by === null) return null;
    const developer = ownerOf(decided_by);
    return developer === null ? decided_by : name(developer);
  };
  return {
    decider,
    view: (row) => {
      const developer = row.developer_id === null ? null : name(row.developer_id);
      const kept = row.arguments === null ? undefined : readKept(row.arguments);
      return {
        approval_id: row.id,
        status: row.status,
        noun: row.noun as ApprovalView['noun'],
        name: row.name,
        server: row.server,
        developer,
        agent: developer === PRIVATE ? null : agentTypeOf(row.actor),
        arguments: kept?.text ?? null,
        arguments_bytes: kept?.bytes ?? null,
        arguments_cut: kept?.cut ?? false,
        arguments_sha256: row.arguments_sha256,
        grant_id: row.grant_id,
        requested_at: row.created_at,
        deadline_at: row.deadline_at,
        decided_at: row.decided_at,
        decided_by: decider(row),
        decided_through: row.decided_through,
        reason: row.reason,
      };
    },
  };
}
