import type { Services } from '../../../kernel/call.ts';
import { type Feature, type Implementation, implement } from '../../../kernel/tool.ts';
import type { InstanceOutside, InstancePorts } from '../instances/index.ts';
import { requestReview, sendFeedback } from './contract.ts';
import { feedbackSweep, runFeedback } from './feedback.ts';
import { runRequest } from './request.ts';
import { timeoutSweep } from './timeouts.ts';

export { callingInstance, requireType } from './caller.ts';
export { feedbackOf } from './store.ts';

export const reviews = (services: Services, outside: InstanceOutside, ports: InstancePorts): Feature => ({
  name: 'reviews',
  implementations: reviewTools(outside, ports),
  sweeps: [feedbackSweep(services, outside, ports), timeoutSweep(services, outside, ports)],
});

export const reviewTools = (outside: InstanceOutside, ports: InstancePorts): Implementation[] => [
  implement(requestReview, { run: (input, ctx) => runRequest(outside, ports, input, ctx) }),
  implement(sendFeedback, { run: (input, ctx) => runFeedback(outside, ports, input, ctx) }),
];
