import { record, type WriteContext } from '../../kernel/call.ts';
import { excerpt } from '../../kernel/excerpt.ts';
import { workspaceFlag } from '../../kernel/ids.ts';
import { invalidInput, Refusal } from '../../kernel/reply.ts';
import { insertNewRow, insertRows, newId } from '../../storage/rows.ts';
import type { CycleRow } from '../../storage/schema-rows.ts';
import type { Tx } from '../../storage/write.ts';
import type { CycleConfig } from './config.ts';
import { cycleIdFor, slugOf } from './cycle-id.ts';
import { firstPhase, leadsBack, type Phase } from './machine.ts';
import type { HandoffPayload } from './payload.ts';
import { activeCycle, changeCycle, countHandoffs, findCycle, idsLike, readCycle, type StoredCycle } from './store.ts';
import { mintLockToken } from './tokens.ts';
import { cancelCommand } from './turn.ts';

interface CycleStart {
  readonly repository: string;
  readonly feature: string;
  readonly mode: string | undefined;
  readonly config: CycleConfig;
}

/** Starts a cycle. Each function here writes a change and its event in one transaction. Callers must first check that the change is allowed. */
export async function startCycle(tx: Tx, ctx: WriteContext, { repository, feature, mode, config }: CycleStart): Promise<StoredCycle> {
  const slug = slugOf(feature);
  if (slug === '') throw invalidInput([{ field: 'feature', message: 'expected at least one letter or digit from A-Z, a-z or 0-9' }]);
  const active = await activeCycle(tx.db, tx.workspace, repository);
  if (active) throw alreadyActive(repository, tx.workspace, active.cycle_id);
  const firstId = cycleIdFor(slug, tx.now, () => false);
  const taken = await idsLike(tx.db, repository, firstId);
  const { name: phase, role } = firstPhase(config.machine);
  const row: CycleRow = {
    workspace_id: tx.workspace,
    id: newId('cyc', tx.now),
    repository,
    cycle_id: cycleIdFor(slug, tx.now, (id) => taken.has(id)),
    feature,
    mode: mode ?? config.mode,
    status: 'active',
    machine: JSON.stringify(config.machine),
    config: null,
    phase,
    active_role: role,
    lock_role: role,
    lock_token: mintLockToken(),
    lock_acquired_at: tx.now,
    reworks: 0,
    started_by: ctx.principal.actor,
    created_at: tx.now,
    updated_at: tx.now,
    completed_at: null,
    ended_at: null,
    ended_by: null,
    reason: null,
    revision: 1,
    mirrored: 0,
  };
  // The row is not inserted if another workspace has an active cycle in this repository.
  if (!(await insertNewRow(tx.db, 'cycles', row))) throw alreadyActive(repository, tx.workspace, null);
  const cycle = readCycle(row);
  recordStep(tx, ctx, 'cycle.started', cycle, { repository: excerpt(repository, 300) });
  return cycle;
}

/** `cycle_id` is null if the active cycle belongs to another workspace. */
function alreadyActive(repository: string, workspace: string, cycle_id: string | null): Refusal {
  return new Refusal(
    'CYCLE_ALREADY_ACTIVE',
    cycle_id === null ? `Another workspace has an active cycle in ${repository}.` : `The cycle ${cycle_id} is active in ${repository}.`,
    cycle_id === null
      ? `Wait until it ends, or ask the operator to run \`${cancelCommand(repository, ' --workspace NAME')}\` with the name of that workspace.`
      : 'Continue that cycle: cycle.status shows its phase and role. In its last working phase, call cycle.complete, then cycle.archive, each with session_token and lock_token. ' +
          `Or ask the operator to run \`${cancelCommand(repository, workspaceFlag(workspace))}\`.`,
    { cycle_id },
  );
}

/** Moves the cycle to a new phase. If the role changes, the new role gets the lock with a new lock token. */
function turnTo(cycle: StoredCycle, { name, role }: Phase, now: number) {
  const lock = role === cycle.lock_role ? {} : { lock_role: role, lock_token: mintLockToken(), lock_acquired_at: now };
  return { phase: name, active_role: role, updated_at: now, ...lock };
}

export async function handOver(tx: Tx, ctx: WriteContext, cycle: StoredCycle, to: Phase, payload: HandoffPayload): Promise<StoredCycle> {
  const { producer, consumer } = payload;
  const number = (await countHandoffs(tx.db, cycle)) + 1;
  await insertRows(tx.db, 'cycle_handoffs', {
    workspace_id: tx.workspace,
    cycle: cycle.id,
    number,
    target: consumer,
    producer,
    payload: JSON.stringify(payload),
    created_at: tx.now,
  });
  const reworks = cycle.reworks + (leadsBack(cycle.machine, cycle.phase, to.name) ? 1 : 0);
  const after = await saveChange(tx, cycle, { ...turnTo(cycle, to, tx.now), reworks });
  recordStep(tx, ctx, 'cycle.handed_over', after, { from_phase: cycle.phase, producer, target: consumer, handoff: number });
  return after;
}

export async function completeCycle(tx: Tx, ctx: WriteContext, cycle: StoredCycle, to: Phase): Promise<StoredCycle> {
  const after = await saveChange(tx, cycle, { ...turnTo(cycle, to, tx.now), completed_at: tx.now });
  recordStep(tx, ctx, 'cycle.completed', after, { from_phase: cycle.phase });
  return after;
}

export async function archiveCycle(tx: Tx, ctx: WriteContext, cycle: StoredCycle, config: CycleConfig): Promise<StoredCycle> {
  const ended = { ended_at: tx.now, ended_by: ctx.principal.actor, updated_at: tx.now };
  const after = await saveChange(tx, cycle, { ...ended, status: 'archived', config: JSON.stringify(config.shown) });
  recordStep(tx, ctx, 'cycle.archived', after, {});
  return after;
}

export async function cancelCycle(tx: Tx, ctx: WriteContext, cycle: StoredCycle, reason: string): Promise<StoredCycle> {
  const ended = { ended_at: tx.now, ended_by: ctx.principal.actor, updated_at: tx.now };
  const after = await saveChange(tx, cycle, { ...ended, status: 'cancelled', reason });
  recordStep(tx, ctx, 'cycle.cancelled', after, { reason: excerpt(reason, 500) });
  return after;
}

async function saveChange(tx: Tx, cycle: StoredCycle, values: Parameters<typeof changeCycle>[2]): Promise<StoredCycle> {
  await changeCycle(tx.db, cycle, values);
  return (await findCycle(tx.db, tx.workspace, cycle.id)) as StoredCycle;
}

function recordStep(tx: Tx, ctx: WriteContext, kind: string, cycle: StoredCycle, more: Record<string, unknown>): void {
  const { cycle_id, phase, active_role } = cycle;
  record(tx, ctx, { category: 'work', kind, subject: cycle.id, payload: { cycle_id, feature: excerpt(cycle.feature, 300), phase, active_role, ...more } });
}
