import type { Feature } from '../../../kernel/tool.ts';
import type { Tally } from '../../core/events/index.ts';
import { rosterTools } from './tools.ts';
import type { WaitingPorts } from './waiting.ts';

export type { WaitingPorts } from './waiting.ts';

/** Lists the agents at work and the items that wait for a person. */
export const roster = (tally: Tally, ports: WaitingPorts): Feature => ({ name: 'roster', implementations: rosterTools(tally, ports) });
