import type { Services } from '../../../kernel/context.ts';
import type { StepRunner } from '../../../kernel/step.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import { carryOutCreation, claimStands, undoCreation } from './create.ts';
import { carryOutRemoval } from './remove.ts';
import { type LeasedWorktree, takeOver, type WorktreeOutside } from './step.ts';
import { overdueSteps } from './store.ts';

const EVERY_MS = 10_000;
const BATCH_SIZE = 50;

/** Finishes or undoes what a process began on disk and did not live to record. */
export function worktreeSweep({ store, clock, log }: Services, outside: WorktreeOutside): Sweep {
  async function finish(row: LeasedWorktree): Promise<void> {
    const runner: StepRunner = { actor: 'server', signal: undefined, write: (callback) => store.write(row.workspace_id, callback) };
    if (row.step === 'removing') await carryOutRemoval(outside, runner, row);
    else if (await claimStands(store.reader, row)) await carryOutCreation(outside, runner, row);
    else await undoCreation(outside, runner, row, 'the claim ended before the worktree was made');
  }

  return {
    name: 'worktrees',
    everyMs: EVERY_MS,
    async run() {
      for (const seen of await overdueSteps(store.reader, clock.now(), BATCH_SIZE)) {
        const taken = await store.write(seen.workspace_id, (tx) => takeOver(tx, seen));
        // One that cannot be finished must not keep the others from it.
        if (taken) await finish(taken).catch((error: unknown) => log.error('worktree not finished', { worktree: taken.id, error }));
      }
    },
  };
}
