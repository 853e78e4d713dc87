import type { Feature } from '../../../kernel/tool.ts';
import type { Tally } from '../../core/events/index.ts';
import { rosterTools } from './tools.ts';
import type { WaitingPorts } from './waiting.ts';

export type { WaitingPorts } from './waiting.ts';

/** Who is at work, and what needs a person. */
export const roster = (tally: Tally, ports: WaitingPorts): Feature => ({ name: 'roster', implementations: rosterTools(tally, ports) });
