import type { Feature } from '../../kernel/tool.ts';
import type { Tally } from './tally.ts';
import { eventTools } from './tools.ts';

export const events = (tally: Tally): Feature => ({
  name: 'events',
  implementations: eventTools(tally),
  keeps: [{ what: 'The journal: every event, chained, without arguments, prompts and tokens', ms: null }],
});

export { type DayTally, DENIED_EDIT, type Refusal, Tally, total } from './tally.ts';
