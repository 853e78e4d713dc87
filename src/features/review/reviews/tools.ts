import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { InstancePorts, Outside } from '../instances/index.ts';
import { requestReview, sendFeedback } from './contract.ts';
import { runFeedback } from './feedback.ts';
import { runRequest } from './request.ts';

export const reviewTools = (outside: Outside, ports: InstancePorts): Implementation[] => [
  implement(requestReview, { run: (input, ctx) => runRequest(outside, ports, input, ctx) }),
  implement(sendFeedback, { run: (input, ctx) => runFeedback(outside, ports, input, ctx) }),
];
