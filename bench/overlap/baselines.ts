import { MemoryIndex } from '../../src/features/team/overlap/memory-index.ts';
import { countedTerms, scoreWeighed, weigh } from '../../src/features/team/overlap/score.ts';
import { DEFAULT_SETTINGS } from '../../src/features/team/overlap/settings.ts';
import { analysisOf, type Doc, type Window } from './data.ts';
import type { Hit, Ranked } from './ranking.ts';

/** Ranks with BM25 over the same terms, with the usual parameters of search engines. It is the baseline for the text score. */
export function rankByBm25(window: Window): Ranked {
  const texts = window.before.map((doc) => ({ id: doc.id, counts: countedTerms(analysisOf(doc), false) }));
  const length = ({ counts }: { counts: ReadonlyMap<string, number> }) => [...counts.values()].reduce((sum, count) => sum + count, 0);
  const mean = texts.reduce((sum, one) => sum + length(one), 0) / Math.max(1, texts.length);
  const frequency = new Map<string, number>();
  for (const { counts } of texts) for (const term of counts.keys()) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  const scores = new Map(
    texts.map((one) => {
      let sum = 0;
      for (const term of analysisOf(window.query).terms) {
        const count = one.counts.get(term);
        const documents = frequency.get(term) ?? 0;
        if (count)
          sum += (Math.log(1 + (texts.length - documents + 0.5) / (documents + 0.5)) * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length(one)) / mean));
      }
      return [one.id, sum] as const;
    }),
  );
  const hits = window.candidates.map(({ id }): Hit => ({ id, isRelevant: window.relevant.has(id), score: scores.get(id) ?? 0, mayEscalate: true }));
  return { repo: window.query.repo, isDuplicate: window.isDuplicate, hits };
}

/**
 * Ranks as the early prototype of the overlap check did: with the plain TF-IDF cosine of the texts and the IDF-weighted Jaccard index of the paths, each with
 * its weight.
 */
export function rankByPrototype(window: Window): Ranked {
  const settings = { ...DEFAULT_SETTINGS, background: 0, shortText: 0 };
  const item = (doc: Doc) => ({ id: doc.id, analysed: analysisOf(doc), files: [] });
  const index = new MemoryIndex();
  const frequency = new Map<string, number>();
  for (const doc of window.before) {
    index.put(item(doc));
    for (const file of new Set(doc.files)) frequency.set(file, (frequency.get(file) ?? 0) + 1);
  }
  const weight = (file: string) => Math.log((window.before.length + 1) / ((frequency.get(file) ?? 0) + 0.5));
  const sum = (files: Iterable<string>) => Array.from(files, weight).reduce((total, one) => total + one, 0);
  const query = item(window.query);
  const weighed = weigh(query, index, settings);
  const mine = new Set(window.query.files);
  const hits = window.candidates.map((doc): Hit => {
    const theirs = new Set(doc.files);
    const common = sum([...mine].filter((file) => theirs.has(file)));
    const jaccard = common / Math.max(1e-9, sum(mine) + sum(theirs) - common);
    const { tfidf } = scoreWeighed(query, weighed, item(doc), index, settings);
    return { id: doc.id, isRelevant: window.relevant.has(doc.id), score: 6.85 * tfidf + 5.31 * jaccard, mayEscalate: tfidf >= 0.1 };
  });
  return { repo: window.query.repo, isDuplicate: window.isDuplicate, hits };
}
