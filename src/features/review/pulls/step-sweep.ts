import type { Services } from '../../../kernel/call.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import { finishOverdue, type InstanceOutside, type InstancePorts, stepsUnderWay } from '../instances/index.ts';
import { carryOutIssues } from './issues.ts';
import { finishPull } from './pull.ts';

const STEPS_MS = 10_000;

/** Handles steps on GitHub whose process died before it recorded the result. Finishes such a step if possible, and otherwise ends it. */
export function pullSweep(services: Services, outside: InstanceOutside, ports: InstancePorts): Sweep {
  const { store, clock } = services;
  return {
    name: 'pull requests and issues in progress',
    everyMs: STEPS_MS,
    async run() {
      await finishOverdue(services, await stepsUnderWay(store.reader, outside.machine, ['pull', 'issues']), (runner, row) =>
        row.step === 'pull' ? finishPull(outside, ports, runner, row, clock.now()) : carryOutIssues(outside, ports, runner, row, { resumedAt: clock.now() }),
      );
    },
  };
}
