import type { Services } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { RECENT_MS } from './detect.ts';
import { type Embedder, QueryEmbedder, vectorising } from './embedder.ts';
import { Finder } from './finder.ts';
import { Preflight } from './preflight.ts';
import { CHECKS_KEPT_MS, forgetting } from './sweeps.ts';
import { overlapTools } from './tools.ts';

export { dropPlanWarning, overlapsOf, recentWarnings, titlesOfWarnings, warningView } from './checks.ts';
export { type CheckedWork, isOpen, likePairs, type Pair, RECENT_MS } from './detect.ts';
export type { Embedder } from './embedder.ts';
export { localEmbedder, remoteEmbedder } from './embedder.ts';
export { fileConflicts, keepMarked, markFiles, unmarkFiles } from './files.ts';
export { addItemFiles, indexItem, indexItems, setItemOwner, setItemStatus, setItemsStatus, type WorkItem } from './items.ts';
export { type Confirmation, Preflight, type Prepared, planReply, type StartedWork, UNASKED } from './preflight.ts';
export { bestFit } from './score.ts';
export { DEFAULT_SETTINGS } from './settings.ts';
export { findItems as itemsById } from './store.ts';

export type { Finder };

export interface OverlapService {
  readonly feature: Feature;
  readonly preflight: Preflight;
  readonly finder: Finder;
}

/** One index for all kinds of work; whoever owns the work tells the index of it. */
export function createOverlap(services: Services, embedder: Embedder | null): OverlapService {
  const finder = new Finder(services.store.reader, () => embedder?.model ?? null);
  const query = new QueryEmbedder(embedder, (error) => services.log.warn('the embedder does not answer', { error }));
  return {
    finder,
    preflight: new Preflight(finder, query),
    feature: {
      name: 'overlap',
      implementations: overlapTools,
      keeps: [
        { what: 'Checks before a start', ms: CHECKS_KEPT_MS },
        { what: 'Finished work in the overlap index; the work itself stays', ms: RECENT_MS },
        { what: 'Overlap warnings; those that nobody came back to are dismissed after two weeks', ms: 'retention.days' },
      ],
      sweeps: [forgetting(services, finder), ...(embedder ? [vectorising(services, embedder)] : [])],
      ...(embedder ? { stop: () => embedder.close() } : {}),
    },
  };
}
