import { writeFileSync } from 'node:fs';
import { DEFAULT_SETTINGS } from '../src/features/team/overlap/settings.ts';
import type { Benchmark, BenchmarkReport } from './benchmark.ts';
import { EMBEDDED, QUICK } from './effort.ts';
import { rankByBm25, rankByPrototype } from './overlap/baselines.ts';
import { curveSvg } from './overlap/curve.ts';
import { type Doc, isPresent, loadReports, loadWindows, type Window } from './overlap/data.ts';
import { type Embed, findEmbedder } from './overlap/embedder.ts';
import { judge, qualityOf } from './overlap/labelled.ts';
import { figuresOf, pointAt, type Ranked, rank } from './overlap/ranking.ts';
import { rankReports } from './overlap/reports.ts';

const ALL = Number.POSITIVE_INFINITY;
/** Uses every n-th pull request. */
const EVERY = QUICK ? 50 : 1;
/** How many of the best candidates of each pull request are embedded. */
const RERANKED = 30;

/**
 * Measures how well the check finds duplicates, on the labelled pairs of this repository. If the data is available, also on real pull requests and bug reports.
 */
export const overlapQuality: Benchmark = async (report) => {
  const embed = await findEmbedder();
  await labelled(report, 'labelled pairs', null);
  if (embed) await labelled(report, 'labelled pairs with the embedder', embed);
  if (!isPresent()) {
    report.step('no real duplicates in ../shared/data/overlap, so only the labelled pairs are measured');
    return;
  }
  const windows = loadWindows().filter((_, at) => at % EVERY === 0);
  report.step(`${windows.length} pull requests`);
  const bm25 = windows.map(rankByBm25);
  figures(report, 'BM25, text only', bm25);
  const prototype = windows.map(rankByPrototype);
  figures(report, 'prototype, text + files', prototype);
  const text = windows.map((window) => rank(window, { files: 0 }));
  figures(report, 'text only', text);
  const full = windows.map((window) => rank(window, { files: ALL }));
  figures(report, 'text + files', full);
  figures(
    report,
    'text + one file',
    windows.map((window) => rank(window, { files: 1 })),
  );
  for (const history of [5, 20, 100]) {
    figures(
      report,
      `text + files, IDF of ${history} items`,
      windows.map((window) => rank(window, { files: ALL, history })),
    );
  }
  reportShares(report, 'text only', text, 'BM25, text only', bm25);
  reportShares(report, 'text and files', full, 'the prototype, text and files', prototype);
  figures(report, 'bug reports, text only', rankReports(loadReports()));
  if (embed) await reranked(report, windows, full, embed);
  thresholds(report, text, full);
};

/** Adds a row for each share: how many duplicates were ranked first, among the first five, or found at 5 % false alarms. */
function reportShares(report: BenchmarkReport, name: string, ours: readonly Ranked[], otherName: string, other: readonly Ranked[]): void {
  const [mine, theirs] = [figuresOf(ours), figuresOf(other)];
  for (const [key, words] of [
    ['recall@1', 'original ranked first'],
    ['recall@5', 'original among the first five'],
    ['recall at 5 % false alarms', 'found at 5 % false alarms'],
  ] as const) {
    const percent = (value: number | undefined) => Math.round((value ?? 0) * 1000) / 10;
    report.figure({ name: `${words}, ${name}`, value: percent(mine[key]), unit: '%', baseline: { name: otherName, value: percent(theirs[key]), unit: '%' } });
  }
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

function figures(report: BenchmarkReport, name: string, ranked: readonly Ranked[]): void {
  for (const [key, value] of Object.entries(figuresOf(ranked))) report.detail(`${name}: ${key}`, rounded(value), '');
}

async function labelled(report: BenchmarkReport, name: string, embed: Embed | null): Promise<void> {
  const { judged, strangers } = await judge(embed);
  for (const half of ['fit', 'test'] as const) {
    const { precision, recall, warnRecall, paraphraseRecall } = qualityOf(judged, half);
    report.detail(`${name}, ${half} half: escalation precision`, rounded(precision), '(aim ≥ .9)');
    report.detail(`${name}, ${half} half: escalation recall`, rounded(recall), 'of those that share words or files');
    report.detail(`${name}, ${half} half: warn floor recall`, rounded(warnRecall), 'of those that share words or files (aim 1)');
    report.detail(`${name}, ${half} half: paraphrases in other words`, rounded(paraphraseRecall), 'at the warn floor');
  }
  for (const [kind, ones] of Map.groupBy(judged, (one) => `${one.kind}, ${one.isDuplicate ? 'same' : 'different'} work`)) {
    const count = (test: (one: (typeof ones)[number]) => boolean) => ones.filter(test).length;
    report.detail(
      `${name}: ${kind}: escalated`,
      count(({ escalates }) => escalates),
      `of ${ones.length}, warned ${count(({ warns }) => warns)}`,
    );
  }
  report.detail(`${name}: tasks with a stranger at the warn floor`, rounded(strangers.warned / strangers.size), `in a workspace of ${strangers.size}`);
  report.detail(`${name}: tasks with a stranger that escalates`, rounded(strangers.escalated / strangers.size), `in a workspace of ${strangers.size}`);
}

/** Compares the ranking with and without the embedder. It uses a sample of the pull requests, and embeds only the best candidates by text and files. */
async function reranked(report: BenchmarkReport, windows: readonly Window[], full: readonly Ranked[], embed: Embed): Promise<void> {
  const chosen = [true, false].flatMap((isDuplicate) => {
    const all = windows.flatMap((window, at) => (window.isDuplicate === isDuplicate ? [{ window, ranked: full[at] as Ranked }] : []));
    return all.filter((_, at) => Math.floor((at * EMBEDDED) / all.length) !== Math.floor(((at - 1) * EMBEDDED) / all.length));
  });
  const narrowed = chosen.map(({ window, ranked }) => {
    const best = new Set(
      ranked.hits
        .toSorted((one, other) => other.score - one.score)
        .slice(0, RERANKED)
        .map(({ id }) => id),
    );
    return { ...window, candidates: window.candidates.filter(({ id }) => best.has(id)) };
  });
  const docs = [...new Map(narrowed.flatMap(({ query, candidates }) => [query, ...candidates]).map((doc) => [doc.id, doc])).values()];
  const started = performance.now();
  const vectors = await embed(docs.map(plain));
  report.detail('embedding a text', Math.round((performance.now() - started) / docs.length), 'ms');
  const byId = new Map(docs.map((doc, at) => [doc.id, vectors[at]]));
  const name = `${EMBEDDED} + ${EMBEDDED} sampled, best ${RERANKED} of text + files`;
  figures(
    report,
    `${name}, without the embedder`,
    narrowed.map((window) => rank(window, { files: ALL })),
  );
  figures(
    report,
    `${name}, with the embedder`,
    narrowed.map((window) => rank(window, { files: ALL, vectorOf: (doc) => byId.get(doc.id) })),
  );
  figures(
    report,
    `${name}, text only, without the embedder`,
    narrowed.map((window) => rank(window, { files: 0 })),
  );
  figures(
    report,
    `${name}, text only, with the embedder`,
    narrowed.map((window) => rank(window, { files: 0, vectorOf: (doc) => byId.get(doc.id) })),
  );
}

/** The text of a pull request without links, issue numbers and commit hashes, because these could refer to the original. */
const plain = ({ title, body }: Doc): string => `${title}\n${body}`.replace(/https?:\S+|#\d+|\b[0-9a-f]{7,40}\b/g, ' ').slice(0, 600);

function thresholds(report: BenchmarkReport, text: readonly Ranked[], full: readonly Ranked[]): void {
  const { warn, escalate } = DEFAULT_SETTINGS;
  const steps = Array.from({ length: 120 }, (_, at) => Math.round((0.2 + at * 0.1) * 10) / 10);
  const line = (ranked: readonly Ranked[]) => steps.map((threshold) => pointAt(ranked, threshold, ({ mayEscalate }) => mayEscalate));
  for (const [name, ranked] of [
    ['text only', text],
    ['text + files', full],
  ] as const) {
    for (const { threshold, falseAlarms, recall } of line(ranked).filter(({ threshold }) => [2, 3, escalate, 4.6, 6].includes(threshold))) {
      report.detail(`${name}, escalate at ${threshold}: false alarms`, rounded(falseAlarms), `recall ${rounded(recall)}`);
    }
    const floor = pointAt(ranked, warn, () => true);
    report.detail(`${name}, warn at ${warn}: ordinary tasks warned`, rounded(floor.falseAlarms), `recall ${rounded(floor.recall)}`);
  }
  if (QUICK) return;
  const svg = curveSvg(
    [
      { name: 'text only', colour: '#1f6feb', points: line(text) },
      { name: 'text + files', colour: '#d1242f', points: line(full) },
    ],
    escalate,
  );
  writeFileSync(new URL('../docs/overlap-curve.svg', import.meta.url), svg);
}
