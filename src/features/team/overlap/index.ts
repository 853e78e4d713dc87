import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { RECENT_MS } from './detect.ts';
import { type Embedder, QueryEmbedder } from './embedder.ts';
import { CHECKS_KEPT_MS, overlapExpirySweep } from './expiry.ts';
import { Finder } from './finder.ts';
import { Preflight } from './preflight.ts';
import { overlapTools } from './tools.ts';
import { vectorSweep } from './vectors.ts';

export { type CheckedWork, isOpen, RECENT_MS } from './detect.ts';
export type { Embedder } from './embedder.ts';
export { localEmbedder } from './local-embedder.ts';
export { likePairs, type Pair } from './pairs.ts';
export { type Confirmation, dropPlanWarning, indexWork, markWorkFiles, Preflight, type Prepared, type StartedWork, UNASKED } from './preflight.ts';
export { planReply } from './preflight-replies.ts';
export { remoteEmbedder } from './remote-embedder.ts';
export { bestFit } from './score.ts';
export { DEFAULT_SETTINGS } from './settings.ts';
export {
  addItemFiles,
  fileConflicts,
  findItems as itemsById,
  indexItems,
  keepMarked,
  markFiles,
  setItemOwner,
  setItemStatus,
  setItemsStatus,
  unmarkFiles,
  type WorkItem,
} from './store.ts';

export { overlapsOf, recentWarnings, titlesOfWarnings, warningView } from './warnings.ts';
export type { Finder };

export interface OverlapService {
  readonly feature: Feature;
  readonly preflight: Preflight;
  readonly finder: Finder;
}

/** Creates the one index for all kinds of work. The feature that owns a piece of work updates its item in the index. */
export function createOverlap(services: Services, embedder: Embedder | null): OverlapService {
  const finder = new Finder(services.store.reader, { model: embedder?.model ?? null });
  const query = embedder && new QueryEmbedder(embedder, (error) => services.log.warn('the embedder failed', { error }));
  return {
    finder,
    preflight: new Preflight(finder, query),
    feature: {
      name: 'overlap',
      implementations: overlapTools,
      keeps: [
        { what: 'Checks before a start', ms: CHECKS_KEPT_MS },
        { what: 'Finished work in the overlap index; the work itself is kept', ms: RECENT_MS },
        { what: 'Overlap warnings; unresolved ones are dismissed after two weeks', ms: 'retention.days' },
      ],
      sweeps: [overlapExpirySweep(services, finder), ...(embedder ? [vectorSweep(services, embedder)] : [])],
      ...(embedder ? { stop: () => embedder.close() } : {}),
    },
  };
}
