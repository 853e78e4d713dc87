import type { House } from '../../kernel/context.ts';
import type { Hand } from '../../kernel/step.ts';
import type { Sweep } from '../../kernel/sweep.ts';
import { type InstancePorts, isOverdue, type Outside, stepsUnderWay, takeOver } from '../instances/index.ts';
import { carryOutIssues } from './issues-step.ts';
import { finishPull } from './pull-step.ts';

const EVERY_MS = 10_000;

/** Finishes, or declares over, what a process began on GitHub and did not live to record. */
export function pullSweep({ store, clock, log }: House, outside: Outside, ports: InstancePorts): Sweep {
  return {
    name: 'pull requests and issues under way',
    everyMs: EVERY_MS,
    async run() {
      for (const seen of await stepsUnderWay(store.reader, outside.machine, ['pull', 'issues'])) {
        if (!isOverdue(seen, clock.now())) continue;
        const row = await store.write(seen.workspace_id, (tx) => takeOver(tx, seen));
        if (!row) continue;
        const hand: Hand = { actor: 'server', signal: undefined, write: (callback) => store.write(row.workspace_id, callback) };
        const finish =
          row.step === 'pull' ? finishPull(outside, ports, hand, row, clock.now()) : carryOutIssues(outside, ports, hand, row, { resumedAt: clock.now() });
        // One that cannot be finished must not keep the others from it.
        await finish.catch((error: unknown) => log.error('not finished on GitHub', { instance: row.id, step: row.step, error }));
      }
    },
  };
}
