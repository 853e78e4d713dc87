import type { House } from '../../kernel/context.ts';
import type { Feature } from '../../kernel/tool.ts';
import { pruneTools, type Standing } from './prune.ts';
import { removingCut } from './sweep.ts';
import type { Tally } from './tally.ts';
import { eventTools } from './tools.ts';

export const events = (house: House, tally: Tally, standing: Standing): Feature => ({
  name: 'events',
  implementations: [...eventTools(tally), ...pruneTools(standing)],
  keeps: [{ what: 'The journal: every event, chained, without arguments, prompts and tokens; until an operator prunes it', ms: null }],
  sweeps: [removingCut(house)],
});

export { createJournalQuota } from './journal-quota.ts';
export type { Standing } from './prune.ts';
export { type DayTally, DENIED_EDIT, type Refusal, Tally, total } from './tally.ts';
