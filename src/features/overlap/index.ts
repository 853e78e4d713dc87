import type { House } from '../../kernel/context.ts';
import type { Feature } from '../../kernel/tool.ts';
import { type Embedder, QueryEmbedder } from './embedder.ts';
import { Finder } from './finder.ts';
import { forgetting } from './forget.ts';
import { Preflight } from './preflight.ts';
import { overlapTools } from './tools.ts';
import { vectorising } from './vectorise.ts';

export { isOpen, RECENT_MS, type Subject } from './candidates.ts';
export { dropPlanWarning } from './checks.ts';
export type { Embedder } from './embedder.ts';
export { fileConflicts, keepMarked, markFiles, unmarkFiles } from './files.ts';
export { bestFit } from './fit.ts';
export { addItemFiles, indexItem, indexItems, setItemOwner, setItemStatus, setItemsStatus, type WorkItem } from './items.ts';
export { localEmbedder } from './local-embedder.ts';
export { likePairs, type Pair } from './pairs.ts';
export { Preflight, type Prepared, planReply, readCheck } from './preflight.ts';
export { remoteEmbedder } from './remote-embedder.ts';
export { DEFAULT_SETTINGS } from './settings.ts';
export { findItems as itemsById } from './store.ts';
export { recentWarnings, warningView } from './tools.ts';

export type { Finder };

export interface Overlap {
  readonly feature: Feature;
  readonly preflight: Preflight;
  readonly finder: Finder;
}

/** One index for all kinds of work; whoever owns the work tells the index of it. */
export function createOverlap(house: House, embedder: Embedder | null): Overlap {
  const finder = new Finder(house.store.reader, () => embedder?.model ?? null);
  const query = new QueryEmbedder(embedder, (error) => house.log.warn('the embedder does not answer', { error }));
  return {
    finder,
    preflight: new Preflight(finder, query),
    feature: {
      name: 'overlap',
      implementations: overlapTools,
      sweeps: [forgetting(house, finder), ...(embedder ? [vectorising(house, embedder)] : [])],
      ...(embedder ? { stop: () => embedder.close() } : {}),
    },
  };
}
