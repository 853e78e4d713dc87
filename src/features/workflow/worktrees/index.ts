import type { Services } from '../../../kernel/call.ts';
import { serverRunner } from '../../../kernel/step.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { StepPorts } from '../steps/index.ts';
import { carryOutRemoval } from './close.ts';
import { carryOutCreation, claimStands, openWorktree, undoCreation } from './create.ts';
import { ELSEWHERE_MS, type LeasedWorktree, reachRepository, takeOver, type WorktreeOutside } from './step.ts';
import { overdueSteps } from './store.ts';
import { worktreeTools } from './tools.ts';

export type { WorktreeOutside } from './step.ts';

interface Worktrees {
  readonly feature: Feature;
  readonly openWorktree: StepPorts['openWorktree'];
}

export const createWorktrees = (services: Services, outside: WorktreeOutside): Worktrees => ({
  feature: { name: 'worktrees', implementations: worktreeTools(outside), sweeps: [worktreeSweep(services, outside)] },
  openWorktree: (ctx, task, fence) => openWorktree(outside, ctx, task, fence),
});

const EVERY_MS = 10_000;
/** Those that are left to another machine are among them. */
const BATCH_SIZE = 1_000;

/** Finishes or undoes what a process began on disk and did not live to record. */
function worktreeSweep({ store, clock, log }: Services, outside: WorktreeOutside): Sweep {
  async function finish(row: LeasedWorktree): Promise<void> {
    const runner = serverRunner(store, row.workspace_id);
    if (row.step === 'removing') await carryOutRemoval(outside, runner, row);
    else if (await claimStands(store.reader, row)) await carryOutCreation(outside, runner, row);
    else await undoCreation(outside, runner, row, 'the claim ended before the worktree was made');
  }

  /** Several machines may serve one database: whoever does not have the repository could only undo what another can finish. */
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
        // One that cannot be finished must not keep the others from it.
        const finished = store.write(seen.workspace_id, (tx) => takeOver(tx, seen)).then((taken) => taken && finish(taken));
        await finished.catch((error: unknown) => log.error('worktree not finished', { worktree: seen.id, error }));
      }
    },
  };
}
