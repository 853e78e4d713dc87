import type { Services } from '../../../kernel/call.ts';
import { serverRunner } from '../../../kernel/step.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import { carryOutCreation, claimStands, undoCreation } from './create.ts';
import { reachRepository, type WorktreeOutside } from './outside.ts';
import { carryOutRemoval } from './removal.ts';
import { ELSEWHERE_MS, type LeasedWorktree, takeOver } from './step.ts';
import { overdueSteps } from './store.ts';

const EVERY_MS = 10_000;
/** The batch is large, because it also contains the steps that this machine leaves to another machine. */
const BATCH_SIZE = 1_000;

/** Finishes or undoes the creation and removal of worktrees if a process died before it recorded the result. */
export function worktreeSweep({ store, clock, log }: Services, outside: WorktreeOutside): Sweep {
  async function finish(row: LeasedWorktree): Promise<void> {
    const runner = serverRunner(store, row.workspace_id);
    if (row.step === 'removing') await carryOutRemoval(outside, runner, row);
    else if (await claimStands(store.reader, row)) await carryOutCreation(outside, runner, row);
    else await undoCreation(outside, runner, row, 'the claim ended before the worktree was created');
  }

  /**
   * Whether the repository is on this machine. Several machines may serve one database. A machine without the repository could only undo a step, but
   * another machine can finish it.
   */
  const isHere = ({ repository_path }: WorktreeRow): Promise<boolean> =>
    reachRepository(outside, repository_path).then(
      () => true,
      () => false,
    );

  return {
    name: 'worktrees',
    everyMs: EVERY_MS,
    async run() {
      const now = clock.now();
      for (const seen of await overdueSteps(store.reader, now, BATCH_SIZE)) {
        if (now < (seen.step_until ?? 0) + ELSEWHERE_MS && !(await isHere(seen))) continue;
        // If one step cannot be finished, the others must be finished anyway.
        const finished = store.write(seen.workspace_id, (tx) => takeOver(tx, seen)).then((taken) => taken && finish(taken));
        await finished.catch((error: unknown) => log.error('failed to finish a worktree step', { worktree: seen.id, error }));
      }
    },
  };
}
