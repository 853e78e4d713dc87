import type { House } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { InstancePorts, Outside } from '../instances/index.ts';
import { pollSweep } from './poll.ts';
import { pullSweep } from './sweep.ts';
import { pullTools } from './tools.ts';

export const pulls = (house: House, outside: Outside, ports: InstancePorts): Feature => ({
  name: 'pulls',
  implementations: pullTools(outside, ports),
  sweeps: [pullSweep(house, outside, ports), pollSweep(house, outside, ports)],
});
