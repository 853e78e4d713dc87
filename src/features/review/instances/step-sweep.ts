import type { Services } from '../../../kernel/call.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import { carryOutEnd } from './end.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { carryOutRestart } from './restart.ts';
import { carryOutStart } from './start.ts';
import { finishOverdue } from './step.ts';
import { stepsUnderWay } from './store.ts';

const EVERY_MS = 5_000;

/** The steps that start and end agents. Pull requests and issues have a separate sweep. */
const FINISH = { worktree: carryOutStart, session: carryOutStart, restart: carryOutRestart, ending: carryOutEnd } as const;
type Step = keyof typeof FINISH;
const STEPS = Object.keys(FINISH) as Step[];

/** Carries out every step that is due. These are delayed steps, and steps whose process died before it recorded the result. */
export const stepSweep = (services: Services, outside: InstanceOutside, ports: InstancePorts): Sweep => ({
  name: 'instance steps',
  everyMs: EVERY_MS,
  async run() {
    const seen = await stepsUnderWay(services.store.reader, outside.machine, STEPS);
    await finishOverdue(services, seen, (runner, row) => FINISH[row.step as Step](outside, ports, runner, row));
  },
});
