import type { House } from '../../../kernel/context.ts';
import { type Feature, type Implementation, implement } from '../../../kernel/tool.ts';
import type { InstancePorts, Outside } from '../instances/index.ts';
import { createIssues, createPullRequest } from './contract.ts';
import { runIssues } from './issues.ts';
import { pollSweep } from './poll.ts';
import { runPull } from './pull.ts';
import { pullSweep } from './sweep.ts';

export const pulls = (house: House, outside: Outside, ports: InstancePorts): Feature => ({
  name: 'pulls',
  implementations: pullTools(outside, ports),
  sweeps: [pullSweep(house, outside, ports), pollSweep(house, outside, ports)],
});

export const pullTools = (outside: Outside, ports: InstancePorts): Implementation[] => [
  implement(createPullRequest, { run: (input, ctx) => runPull(outside, ports, input, ctx) }),
  implement(createIssues, { run: (input, ctx) => runIssues(outside, ports, input, ctx) }),
];
