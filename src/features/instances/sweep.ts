import type { House } from '../../kernel/context.ts';
import type { Hand } from '../../kernel/step.ts';
import type { Sweep } from '../../kernel/sweep.ts';
import { carryOutEnd } from './end.ts';
import type { InstancePorts } from './ports.ts';
import { carryOutRestart } from './restart.ts';
import { carryOutStart } from './start.ts';
import { isOverdue, type Leased, type Outside, takeOver } from './step.ts';
import { stepsUnderWay } from './store.ts';

const EVERY_MS = 5_000;
/** Those that put an agent to work and take it away; what is done for it elsewhere is finished by whoever began it. */
const STEPS = ['worktree', 'session', 'restart', 'ending'] as const;

/** Carries out every step that is due: what was put off for a moment, and what a process began and did not live to record. */
export function stepSweep({ store, clock, log }: House, outside: Outside, ports: InstancePorts): Sweep {
  async function finish(row: Leased): Promise<void> {
    const hand: Hand = { actor: 'server', signal: undefined, write: (callback) => store.write(row.workspace_id, callback) };
    if (row.step === 'ending') await carryOutEnd(outside, ports, hand, row);
    else if (row.step === 'restart') await carryOutRestart(outside, ports, hand, row);
    else await carryOutStart(outside, ports, hand, row);
  }
  return {
    name: 'instance steps',
    everyMs: EVERY_MS,
    async run() {
      for (const seen of await stepsUnderWay(store.reader, outside.machine, STEPS)) {
        if (!isOverdue(seen, clock.now())) continue;
        const taken = await store.write(seen.workspace_id, (tx) => takeOver(tx, seen));
        // One that cannot be finished must not keep the others from it.
        if (taken) await finish(taken).catch((error: unknown) => log.error('instance not finished', { instance: taken.id, error }));
      }
    },
  };
}
