import type { Services } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { diffActions } from './diff.ts';
import { livenessSweep } from './liveness.ts';
import { orphanActions } from './orphans.ts';
import type { InstancePorts } from './ports.ts';
import type { InstanceOutside } from './step.ts';
import { stepSweep } from './sweep.ts';
import { instanceActions } from './tools.ts';

export type { InstanceRow } from '../../../storage/schema-rows.ts';
export type { Feedback } from './contract.ts';
export { LAUNCHERS } from './launch.ts';
export { allows, INSTANCE_ID } from './lifecycle.ts';
export { isAtLimit, isGivenUp, isStuck, reviewsAllowed, SUGGESTIONS } from './limits.ts';
export type { InstancePorts } from './ports.ts';
export { foldersIn, requireHere, requireInstance, requireWatchable } from './require.ts';
export { reserve } from './reserve.ts';
export { carryOutStart, startFailed } from './start.ts';
export { finishOverdue, goOn, type InstanceOutside, LEASE_OVER, type LeasedInstance, lease, leave, stillMine } from './step.ts';
export { beginEnding, EXIT_GRACE_MS, reviewOver, withNews } from './stop.ts';
export { changeInstance, findInstance, pullsToAskFor, reviewBeingStarted, reviewedBy, reviewsOf, stepsUnderWay } from './store.ts';
export { circumstancesOf, instanceViewer } from './views.ts';

export const instances = (services: Services, outside: InstanceOutside, ports: InstancePorts): Feature => ({
  name: 'instances',
  implementations: [...instanceActions(outside, ports), ...diffActions(outside), ...orphanActions(outside)],
  keeps: [{ what: 'Instances and the feedback of their reviews', ms: null }],
  sweeps: [stepSweep(services, outside, ports), livenessSweep(services, outside, ports)],
});
