import type { House } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { InstancePorts, Outside } from '../instances/index.ts';
import { feedbackSweep, timeoutSweep } from './sweep.ts';
import { reviewTools } from './tools.ts';

export { callingInstance, requireType } from './caller.ts';
export { feedbackOf } from './store.ts';

export const reviews = (house: House, outside: Outside, ports: InstancePorts): Feature => ({
  name: 'reviews',
  implementations: reviewTools(outside, ports),
  sweeps: [feedbackSweep(house, outside, ports), timeoutSweep(house, outside, ports)],
});
