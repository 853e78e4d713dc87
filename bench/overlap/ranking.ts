import { MemoryIndex } from '../../src/features/team/overlap/memory-index.ts';
import { scoreWeighed, weigh } from '../../src/features/team/overlap/score.ts';
import { DEFAULT_SETTINGS, type OverlapSettings } from '../../src/features/team/overlap/settings.ts';
import { analysisOf, type Doc, type Window } from './data.ts';

export interface Hit {
  readonly isRelevant: boolean;
  readonly id: string;
  readonly score: number;
  /** Whether a high score would make this hit require a verdict. False if the texts share too little, or contain too little information. */
  readonly mayEscalate: boolean;
}

export interface Ranked {
  readonly repo: string;
  readonly isDuplicate: boolean;
  readonly hits: readonly Hit[];
}

export interface Variant {
  /** How many of the query's files are used. With 0, the files of the candidates are not used either. Otherwise all files of the candidates are used. */
  readonly files: number;
  /** How many items the workspace contains. The check of small workspaces sets it to less than the whole window. */
  readonly history?: number;
  readonly vectorOf?: (doc: Doc) => Float32Array | undefined;
}

export function rank(window: Window, { files, history = Number.POSITIVE_INFINITY, vectorOf }: Variant, settings: OverlapSettings = DEFAULT_SETTINGS): Ranked {
  const filesOf = (doc: Doc) => (files === 0 ? [] : doc.files);
  const item = (doc: Doc) => ({ id: doc.id, analysed: analysisOf(doc), files: filesOf(doc), vector: vectorOf?.(doc) });
  const index = new MemoryIndex();
  for (const doc of window.before.slice(-Math.min(history, window.before.length))) index.put(item(doc));
  const query = { ...item(window.query), files: filesOf(window.query).slice(0, files) };
  const weighed = weigh(query, index, settings);
  const hits = window.candidates.map((doc): Hit => {
    const { score, textualEvidence, lowInformation } = scoreWeighed(query, weighed, item(doc), index, settings);
    return { id: doc.id, isRelevant: window.relevant.has(doc.id), score, mayEscalate: textualEvidence && !lowInformation };
  });
  return { repo: window.query.repo, isDuplicate: window.isDuplicate, hits };
}

const DEPTHS = [1, 3, 5, 10, 20] as const;
const ALARMS = [0.02, 0.05, 0.1] as const;

const bestOf = (hits: readonly Hit[]): number => hits.reduce((best, { score }) => Math.max(best, score), 0);

/** The rank of the best relevant hit. If other hits have the same score, they count as ranked before it. A hit with score 0 has no rank. */
function placeOf({ hits }: Ranked): number {
  const best = bestOf(hits.filter(({ isRelevant }) => isRelevant));
  return best > 0 ? 1 + hits.filter(({ isRelevant, score }) => !isRelevant && score >= best).length : Number.POSITIVE_INFINITY;
}

/** Computes recall among the first k hits, the mean reciprocal rank, and recall at given shares of false alarms. */
export function figuresOf(ranked: readonly Ranked[]): Record<string, number> {
  const duplicates = ranked.filter(({ isDuplicate }) => isDuplicate);
  const places = duplicates.map(placeOf);
  const share = (count: number) => count / Math.max(1, duplicates.length);
  const figures: Record<string, number> = {};
  for (const depth of DEPTHS) figures[`recall@${depth}`] = share(places.filter((place) => place <= depth).length);
  figures.MRR = share(places.reduce((sum, place) => sum + 1 / place, 0));
  const ordinary = ranked
    .filter(({ isDuplicate }) => !isDuplicate)
    .map(({ hits }) => bestOf(hits))
    .sort((one, other) => other - one);
  for (const alarm of ordinary.length > 0 ? ALARMS : []) {
    const threshold = ordinary[Math.floor(alarm * ordinary.length)] ?? 0;
    const found = duplicates.filter(({ hits }) => hits.some(({ isRelevant, score }) => isRelevant && score > threshold));
    figures[`recall at ${alarm * 100} % false alarms`] = share(found.length);
  }
  return figures;
}

export interface Point {
  readonly threshold: number;
  readonly falseAlarms: number;
  readonly recall: number;
}

/** Computes two shares for a threshold: the ordinary tasks with a hit that reaches it (false alarms), and the duplicates whose original reaches it (recall). */
export function pointAt(ranked: readonly Ranked[], threshold: number, counts: (hit: Hit) => boolean): Point {
  const share = (all: readonly Ranked[], test: (hit: Hit) => boolean) => all.filter(({ hits }) => hits.some(test)).length / Math.max(1, all.length);
  const reaches = (hit: Hit) => hit.score >= threshold && counts(hit);
  return {
    threshold,
    falseAlarms: share(
      ranked.filter(({ isDuplicate }) => !isDuplicate),
      reaches,
    ),
    recall: share(
      ranked.filter(({ isDuplicate }) => isDuplicate),
      (hit) => hit.isRelevant && reaches(hit),
    ),
  };
}
