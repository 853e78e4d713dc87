import { MemoryIndex } from '../../src/features/team/overlap/memory-index.ts';
import { DEFAULT_SETTINGS } from '../../src/features/team/overlap/settings.ts';
import { analysisOf, type Reports } from './data.ts';
import type { Ranked } from './ranking.ts';

/** For the first report of each pair, ranks the other reports of its project by similarity. */
export function rankReports({ docs, pairs }: Reports): Ranked[] {
  const byId = new Map(docs.map((doc) => [doc.id, doc]));
  const duplicates = new Map<string, Set<string>>();
  for (const [one, other] of pairs) {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      if (!duplicates.has(from)) duplicates.set(from, new Set());
      duplicates.get(from)?.add(to);
    }
  }
  const indexes = new Map<string, MemoryIndex>();
  for (const doc of docs) {
    const index = indexes.get(doc.repo) ?? new MemoryIndex();
    indexes.set(doc.repo, index);
    index.put({ id: doc.id, analysed: analysisOf(doc), files: [] });
  }
  return [...new Set(pairs.map(([one]) => one))].flatMap((id): Ranked[] => {
    const doc = byId.get(id);
    const index = doc && indexes.get(doc.repo);
    if (!doc || !index) return [];
    const relevant = duplicates.get(id) ?? new Set();
    const found = index.search({ analysed: analysisOf(doc), files: [] }, DEFAULT_SETTINGS, { limit: 100, accept: (other) => other !== id });
    return [
      { repo: doc.repo, isDuplicate: true, hits: found.map((hit) => ({ id: hit.id, isRelevant: relevant.has(hit.id), score: hit.score, mayEscalate: true })) },
    ];
  });
}
