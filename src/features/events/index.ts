import type { Feature } from '../../kernel/tool.ts';
import type { Tally } from './tally.ts';
import { eventTools } from './tools.ts';

export const events = (tally: Tally): Feature => ({ name: 'events', implementations: eventTools(tally) });

export { type CallCounts, type DayTally, type Refusal, Tally, total } from './tally.ts';
