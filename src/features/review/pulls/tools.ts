import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { InstancePorts, Outside } from '../instances/index.ts';
import { createIssues, createPullRequest } from './contract.ts';
import { runIssues } from './issues.ts';
import { runPull } from './pull.ts';

export const pullTools = (outside: Outside, ports: InstancePorts): Implementation[] => [
  implement(createPullRequest, { run: (input, ctx) => runPull(outside, ports, input, ctx) }),
  implement(createIssues, { run: (input, ctx) => runIssues(outside, ports, input, ctx) }),
];
