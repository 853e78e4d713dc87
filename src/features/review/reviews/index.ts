import type { House } from '../../../kernel/context.ts';
import { type Feature, type Implementation, implement } from '../../../kernel/tool.ts';
import type { InstancePorts, Outside } from '../instances/index.ts';
import { requestReview, sendFeedback } from './contract.ts';
import { runFeedback } from './feedback.ts';
import { runRequest } from './request.ts';
import { feedbackSweep, timeoutSweep } from './sweep.ts';

export { callingInstance, requireType } from './caller.ts';
export { feedbackOf } from './store.ts';

export const reviews = (house: House, outside: Outside, ports: InstancePorts): Feature => ({
  name: 'reviews',
  implementations: reviewTools(outside, ports),
  sweeps: [feedbackSweep(house, outside, ports), timeoutSweep(house, outside, ports)],
});

export const reviewTools = (outside: Outside, ports: InstancePorts): Implementation[] => [
  implement(requestReview, { run: (input, ctx) => runRequest(outside, ports, input, ctx) }),
  implement(sendFeedback, { run: (input, ctx) => runFeedback(outside, ports, input, ctx) }),
];
