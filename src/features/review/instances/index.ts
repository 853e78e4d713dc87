import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { diffActions } from './diff.ts';
import { livenessSweep } from './liveness.ts';
import { orphanActions } from './orphans.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { sizeAction } from './sizes.ts';
import { stepSweep } from './step-sweep.ts';
import { instanceActions } from './tools.ts';

export type { InstanceRow } from '../../../storage/schema-rows.ts';
export { concludeReview } from './conclude-review.ts';
export { type Feedback, feedbackView } from './contract.ts';
export { beginEnding, EXIT_GRACE_MS } from './end.ts';
export { circumstancesOf } from './failures.ts';
export { instanceTypeOf, requireHere, requireInstance, requireWatchable } from './guards.ts';
export { LAUNCHERS } from './launch.ts';
export { allows, isAtLimit, isGivenUp, isStuck, reviewsAllowed, SUGGESTIONS, withNews } from './lifecycle.ts';
export { INSTANCE_ID } from './names.ts';
export { foldersIn } from './place.ts';
export type { InstanceOutside, InstancePorts } from './ports.ts';
export { reserve } from './reserve.ts';
export { carryOutStart, startFailed } from './start.ts';
export { finishOverdue, goOn, LEASE_OVER, type LeasedInstance, lease, leave, stillMine } from './step.ts';
export { changeInstance, findInstance, isReviewBeingStarted, pullsToAskFor, reviewedBy, reviewsOf, stepsUnderWay } from './store.ts';
export { instanceViewer, spentReviews } from './views.ts';

export const instances = (services: Services, outside: InstanceOutside, ports: InstancePorts): Feature => ({
  name: 'instances',
  implementations: [...instanceActions(outside, ports), ...diffActions(outside), sizeAction(outside), ...orphanActions(outside)],
  keeps: [{ what: 'Instances and the feedback of their reviews', ms: null }],
  sweeps: [stepSweep(services, outside, ports), livenessSweep(services, outside, ports)],
});
