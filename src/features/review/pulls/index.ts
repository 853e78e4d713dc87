import type { Services } from '../../../kernel/call.ts';
import { type Feature, type Implementation, implement } from '../../../kernel/tool.ts';
import type { InstanceOutside, InstancePorts } from '../instances/index.ts';
import { createIssues, createPullRequest } from './contract.ts';
import { runIssues } from './issues.ts';
import { pollSweep } from './poll.ts';
import { runPull } from './pull.ts';
import { pullSweep } from './step-sweep.ts';

export const pulls = (services: Services, outside: InstanceOutside, ports: InstancePorts): Feature => ({
  name: 'pulls',
  implementations: pullTools(outside, ports),
  sweeps: [pullSweep(services, outside, ports), pollSweep(services, outside, ports)],
});

export const pullTools = (outside: InstanceOutside, ports: InstancePorts): Implementation[] => [
  implement(createPullRequest, { run: (input, ctx) => runPull(outside, ports, input, ctx) }),
  implement(createIssues, { run: (input, ctx) => runIssues(outside, ports, input, ctx) }),
];
