import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type Analysed, analyse } from '../../src/features/team/overlap/terms.ts';

/** The folder with real duplicates. It is next to the repository and never part of it. The README in that folder describes the data. */
const FOLDER = new URL('../../../shared/data/overlap/', import.meta.url);

export interface Doc {
  readonly id: string;
  readonly repo: string;
  readonly n: number;
  readonly author: string;
  readonly title: string;
  readonly body: string;
  readonly files: readonly string[];
}

interface Labelled {
  readonly q: string;
  readonly kind: 'dup' | 'control';
  readonly relWin: readonly string[];
}

/** A pull request and the 200 pull requests before it. The ranking excludes pull requests by the same author, and those that the text mentions. */
export interface Window {
  readonly query: Doc;
  readonly isDuplicate: boolean;
  readonly before: readonly Doc[];
  readonly candidates: readonly Doc[];
  readonly relevant: ReadonlySet<string>;
}

export interface Reports {
  readonly docs: readonly Doc[];
  readonly pairs: readonly (readonly [string, string])[];
}

const WINDOW = 200;

export const isPresent = (): boolean => existsSync(new URL('duppr-dev.docs.jsonl.gz', FOLDER));

const text = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');
const lines = (name: string): Doc[] =>
  gunzipSync(readFileSync(new URL(name, FOLDER)))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Doc);

export function loadWindows(): Window[] {
  const byRepo = Map.groupBy(lines('duppr-dev.docs.jsonl.gz'), ({ repo }) => repo);
  const places = new Map<string, { list: Doc[]; at: number }>();
  for (const list of byRepo.values()) {
    list.sort((one, other) => one.n - other.n);
    for (const [at, { id }] of list.entries()) places.set(id, { list, at });
  }
  const labelled = JSON.parse(text('duppr-dev.queries.json')) as Labelled[];
  return labelled.flatMap(({ q, kind, relWin }) => {
    const place = places.get(q);
    const query = place?.list[place.at];
    if (!place || !query) return [];
    const before = place.list.slice(Math.max(0, place.at - WINDOW), place.at);
    const named = new Set(Array.from(`${query.title} ${query.body}`.matchAll(/#(\d+)/g), ([, n]) => Number(n)));
    const candidates = before.filter(({ author, n }) => author !== query.author && !named.has(n));
    const relevant = new Set(relWin.filter((id) => candidates.some((one) => one.id === id)));
    return kind === 'dup' && relevant.size === 0 ? [] : [{ query, isDuplicate: kind === 'dup', before, candidates, relevant }];
  });
}

export const loadReports = (): Reports => ({
  docs: lines('reports-dev.docs.jsonl.gz'),
  pairs: JSON.parse(text('reports-dev.pairs.json')) as [string, string][],
});

const analysed = new Map<string, Analysed>();

/** The same text occurs in several windows, so its analysis is cached. */
export function analysisOf(doc: Doc): Analysed {
  let found = analysed.get(doc.id);
  if (!found) analysed.set(doc.id, (found = analyse({ title: doc.title, description: doc.body })));
  return found;
}
