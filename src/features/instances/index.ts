import type { House } from '../../kernel/context.ts';
import type { Feature } from '../../kernel/tool.ts';
import { livenessSweep } from './liveness.ts';
import type { InstancePorts } from './ports.ts';
import type { Outside } from './step.ts';
import { stepSweep } from './sweep.ts';

export type { Feedback } from './contract.ts';
export { beginEnding, carryOutEnd, LAST_WORDS_MS } from './end.ts';
export { LAUNCHERS } from './launchers.ts';
export { allows } from './lifecycle.ts';
export { isAtLimit, isGivenUp, isStuck, SUGGESTIONS } from './limits.ts';
export type { InstancePorts, Told } from './ports.ts';
export { reserve } from './reserve.ts';
export { reviewOver } from './review-over.ts';
export { carryOutStart } from './start.ts';
export type { Outside } from './step.ts';
export { changeInstance, findInstance, reviewBeingStarted, reviewedBy, reviewsOf } from './store.ts';
export type { InstanceRow } from './tables.ts';

export const instances = (house: House, outside: Outside, ports: InstancePorts): Feature => ({
  name: 'instances',
  implementations: [],
  sweeps: [stepSweep(house, outside, ports), livenessSweep(house, outside, ports)],
});
