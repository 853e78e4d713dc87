import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { AnchorKeeper } from '../../../storage/anchors/keeper.ts';
import { type AnchorPace, anchoring, anchorTools } from './anchors.ts';
import { type PruneHold, pruneTools, removingCut } from './prune.ts';
import type { Tally } from './tally.ts';
import { eventTools } from './tools.ts';

/** Where anchors go, and how often. */
export interface Anchors {
  readonly keeper: AnchorKeeper;
  readonly pace: AnchorPace;
}

export function events(services: Services, tally: Tally, standing: PruneHold, { keeper, pace }: Anchors): Feature {
  const { sweep, stop } = anchoring(services, keeper, pace);
  return {
    name: 'events',
    implementations: [...eventTools(tally, keeper), ...pruneTools(standing, keeper), ...anchorTools(keeper)],
    keeps: [{ what: 'The journal: every event, chained, without arguments, prompts and tokens; until an operator prunes it', ms: null }],
    sweeps: [removingCut(services), sweep],
    stop,
  };
}

export { JournalFold } from './journal-fold.ts';
export { createJournalQuota } from './journal-quota.ts';
export type { PruneHold } from './prune.ts';
export { type DayTally, DENIED_EDIT, type TalliedRefusal, Tally, total } from './tally.ts';
