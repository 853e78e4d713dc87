import { z } from 'zod';
import type { Principal } from '../../../kernel/context.ts';
import { readJson } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import { namesFor, PRIVATE } from '../../core/identity/index.ts';
import type { AgentView } from './contract.ts';
import { leaseEnd, statusAt } from './liveness.ts';
import { isOwn } from './own.ts';

const strings = z.array(z.string());
const json = z.record(z.string(), z.unknown());

export const capabilitiesOf = ({ capabilities }: Pick<AgentRow, 'capabilities'>): string[] => readJson(strings, capabilities);

/** Of a private developer's agent others see that it is there and what it can do, and nothing that tells whose it is. */
export async function agentViewer(db: Db, viewer: Principal, now: number): Promise<(row: AgentRow) => AgentView> {
  const nameOf = await namesFor(db, viewer.workspace, viewer);
  return (row) => {
    const developer = row.developer_id === null ? null : nameOf(row.developer_id);
    const mine = isOwn(row, viewer);
    const hidden = developer === PRIVATE && !mine;
    const status = statusAt(row, now);
    return {
      id: row.id,
      name: hidden ? PRIVATE : row.name,
      runtime: row.runtime,
      role: row.role,
      status,
      capabilities: capabilitiesOf(row),
      current_task_id: status === 'offline' ? null : row.current_task_id,
      workspace_path: hidden ? null : row.workspace_path,
      metadata: hidden || row.metadata === null ? null : readJson(json, row.metadata),
      developer,
      mine,
      registered_at: row.registered_at,
      last_seen_at: row.last_seen_at,
      lease_expires_at: status === 'offline' ? null : leaseEnd(row),
    };
  };
}
