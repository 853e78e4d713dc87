import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { AnchorKeeper } from '../../../storage/anchors/keeper.ts';
import { type AnchorPace, anchorTools, createAnchorSweep } from './anchors.ts';
import { createLeftoverSweep, type PruneHold, pruneTools } from './prune.ts';
import type { Tally } from './tally.ts';
import { eventTools } from './tools.ts';

/** The keeper that writes the anchors, and how often the server anchors a journal. */
export interface Anchors {
  readonly keeper: AnchorKeeper;
  readonly pace: AnchorPace;
}

export function events(services: Services, tally: Tally, hold: PruneHold, { keeper, pace }: Anchors): Feature {
  const { sweep, stop } = createAnchorSweep(services, keeper, pace);
  return {
    name: 'events',
    implementations: [...eventTools(tally, keeper), ...pruneTools(hold, keeper), ...anchorTools(keeper)],
    keeps: [{ what: 'The journal: every event, hash-chained, without arguments, prompts or tokens; until an operator prunes it', ms: null }],
    sweeps: [createLeftoverSweep(services), sweep],
    stop,
  };
}

export { JournalFold } from './journal-fold.ts';
export { createJournalQuota } from './journal-quota.ts';
export type { PruneHold } from './prune.ts';
export { type DayTally, DENIED_EDIT, type TalliedRefusal, Tally, totalCalls } from './tally.ts';
