import { ANALYSIS, DEFAULT_SETTINGS, type OverlapSettings } from './settings.ts';
import { type Analysed, analyse, backgroundShare, type TaskText } from './terms.ts';

export interface Query {
  readonly analysed: Analysed;
  readonly files: readonly string[];
  readonly vector?: Float32Array | undefined;
}

export interface Indexed extends Query {
  readonly id: string;
}

export interface Scored {
  readonly id: string;
  readonly score: number;
  /** Cosine of the two texts, 0 to 1. */
  readonly tfidf: number;
  /** Similarity of the two lists of files, 0 to 1. */
  readonly files: number;
  /** Cosine of the two vectors; null if one is missing. */
  readonly embedding: number | null;
  /** The terms of both texts, most informative first. */
  readonly sharedTerms: readonly string[];
  readonly sharedFiles: readonly string[];
  /** True if the texts contain too little information to conclude that both are the same work. */
  readonly lowInformation: boolean;
  readonly textualEvidence: boolean;
}

/** One side of a comparison, weighted with the current statistics. */
export interface Weighed {
  readonly terms: ReadonlyMap<string, number>;
  readonly norm: number;
  readonly keys: ReadonlyMap<string, number>;
  readonly keySum: number;
}

export function weigh(query: Query, statistics: Statistics, settings: OverlapSettings): Weighed {
  const terms = new Map<string, number>();
  let squares = 0;
  for (const [term, count] of countedTerms(query.analysed, isBatch(query.analysed.prefix, statistics, settings))) {
    const weight = damped(count) * inverseFrequency(statistics.documents, statistics.frequency(term), backgroundShare(term), settings);
    terms.set(term, weight);
    squares += weight * weight;
  }
  const keys = new Map<string, number>();
  let keySum = 0;
  for (const [key, weight] of weighedKeys(query.files, settings)) {
    const weighed = weight * inverseFrequency(statistics.documents, statistics.fileFrequency(key), backgroundFileShare(key), settings);
    keys.set(key, weighed);
    keySum += weighed;
  }
  return { terms, norm: Math.sqrt(squares), keys, keySum };
}

export const scorePair = (query: Query, candidate: Indexed, statistics: Statistics, settings: OverlapSettings): Scored =>
  scoreWeighed(query, weigh(query, statistics, settings), candidate, statistics, settings);

/** Like `scorePair`, but `mine` contains the query already weighted, so that it is weighted once for many candidates. */
export function scoreWeighed(query: Query, mine: Weighed, candidate: Indexed, statistics: Statistics, settings: OverlapSettings): Scored {
  // If the query has no files, the candidate's files do not matter. They are skipped, because weighing paths takes longer than weighing words.
  const theirs = weigh(mine.keys.size > 0 ? candidate : { ...candidate, files: [] }, statistics, settings);
  const shared: { term: string; worth: number }[] = [];
  let product = 0;
  for (const [term, weight] of mine.terms) {
    const other = theirs.terms.get(term);
    if (other === undefined) continue;
    product += weight * other;
    shared.push({ term, worth: weight * other });
  }
  let common = 0;
  for (const [key, weight] of mine.keys) if (theirs.keys.has(key)) common += weight;
  const embedding = cosine(query.vector, candidate.vector);
  const { score, tfidf, files } = combine({ product, common, embedding }, mine, theirs, settings);
  const sharedTerms = shared.sort((one, other) => other.worth - one.worth || (one.term < other.term ? -1 : 1)).map(({ term }) => term);
  const alike = embedding !== null && embedding >= settings.embeddingEvidence;
  return {
    id: candidate.id,
    score,
    tfidf,
    files,
    embedding,
    sharedTerms,
    sharedFiles: files > 0 ? filesOfBoth(query, candidate) : [],
    lowInformation: isLowInformation(),
    textualEvidence: tfidf >= settings.textualEvidence || alike,
  };

  function isLowInformation(): boolean {
    const { nats, telling } = settings.lowInformation;
    // Most candidates fail this condition, so it comes first. Hundreds of candidates are scored for each one that is shown.
    const sharedSays = informationIn(sharedTerms, statistics, settings).nats >= nats;
    if (!sharedSays && !alike) return true;
    const [one, other] = [mine, theirs].map(({ terms }) => informationIn(terms.keys(), statistics, settings)) as [Information, Information];
    if (Math.min(one.telling, other.telling) < telling) return true;
    return !sharedSays && Math.min(one.nats, other.nats) < nats;
  }
}

type Information = ReturnType<typeof informationIn>;

/** A workspace with at least this many items has enough statistics to show which words occur everywhere. */
const GROWN = 20;
const IN_EVERYTHING = 0.2;

/**
 * Counts the informative terms and sums up their information in nats. A word that very many tasks of the workspace contain does not
 * distinguish two tasks, so it adds no nats, but it still counts as a term.
 */
function informationIn(terms: Iterable<string>, statistics: Statistics, { lowInformation }: OverlapSettings): { nats: number; telling: number } {
  let nats = 0;
  let telling = 0;
  for (const term of terms) {
    const share = backgroundShare(term);
    if (share >= lowInformation.generic) continue;
    telling++;
    const isEverywhere = statistics.documents >= GROWN && statistics.frequency(term) > IN_EVERYTHING * statistics.documents;
    if (!isEverywhere) nats -= Math.log(share);
  }
  return { nats, telling };
}

/** How common words and files are in the workspace. `fileFrequency` takes a key that `pathKeys` returned. */
export interface Statistics {
  readonly documents: number;
  frequency(term: string): number;
  fileFrequency(key: string): number;
  prefixFrequency(prefix: string): number;
}

/** The inverse document frequency of a key. The background adds imaginary documents in which the key is as common as in software tasks in general. */
export const inverseFrequency = (documents: number, frequency: number, share: number, { background }: OverlapSettings): number =>
  Math.max(0, Math.log(documents + background + 1) - Math.log(frequency + background * share + 0.5));

/** Dampens the count of a term, because the tenth mention adds little information to the second. */
export const damped = (count: number): number => (count <= 0 ? 0 : Math.log1p(count));

/** The term counts used in a score. They omit the words of a prefix that marks a batch. */
export function countedTerms(analysed: Analysed, isBatch: boolean): Map<string, number> {
  const counted = new Map<string, number>();
  for (let at = 0; at < analysed.terms.length; at++) counted.set(analysed.terms[at] as string, analysed.counts[at] as number);
  if (!isBatch) return counted;
  for (const term of analysed.prefixTerms) {
    const rest = (counted.get(term) ?? 0) - ANALYSIS.titleWeight;
    if (rest > 0) counted.set(term, rest);
    else counted.delete(term);
  }
  return counted;
}

const isBatch = (prefix: string | null, statistics: Statistics, settings: OverlapSettings): boolean =>
  prefix !== null && statistics.prefixFrequency(prefix) >= settings.batchPrefix;

/** The dot product. It adds up four sums in parallel, so that no addition has to wait for the one before it. */
export function product(one: Float32Array, other: Float32Array): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let at = 0;
  for (; at + 3 < one.length; at += 4) {
    a += (one[at] as number) * (other[at] as number);
    b += (one[at + 1] as number) * (other[at + 1] as number);
    c += (one[at + 2] as number) * (other[at + 2] as number);
    d += (one[at + 3] as number) * (other[at + 3] as number);
  }
  for (; at < one.length; at++) a += (one[at] as number) * (other[at] as number);
  return a + b + (c + d);
}

export const squares = (vector: Float32Array): number => product(vector, vector);

/** Null if a side has no vector, or if the vectors have different lengths and therefore come from different models. */
function cosine(one: Float32Array | undefined, other: Float32Array | undefined): number | null {
  if (!one || !other || one.length !== other.length) return null;
  const lengths = squares(one) * squares(other);
  return lengths > 0 ? product(one, other) / Math.sqrt(lengths) : null;
}

/** The lengths of one side of a comparison. The score divides the shared weight by both sides' lengths. */
type Lengths = Pick<Weighed, 'norm' | 'keySum'>;

interface SharedWeight {
  /** Product of the vectors of the two texts. */
  readonly product: number;
  /** Total weight of the file keys that both sides have. */
  readonly common: number;
  /** Cosine of the embeddings of the two texts. */
  readonly embedding: number | null;
}

/**
 * Computes the score. The word score and the meaning score come from the same text, so only the higher of them counts. Adding them would
 * raise the scores of all tasks of one component, because such tasks have similar meanings. A model can therefore only add matches.
 */
export function combine({ product, common, embedding }: SharedWeight, one: Lengths, other: Lengths, { weights, embeddingFloor, shortText }: OverlapSettings) {
  const tfidf = share(product, one.norm * other.norm);
  // How much the similarity of the two texts proves, from 0 to 1. The similarity of short texts proves less.
  const proof = tfidf > 0 ? (one.norm / (one.norm + shortText)) * (other.norm / (other.norm + shortText)) : 0;
  // The mean of the Jaccard index and the shared part of the shorter list. A task with one file still matches a task with ten files, if one
  // of the ten is the same.
  const files = (share(common, one.keySum + other.keySum - common) + share(common, Math.min(one.keySum, other.keySum))) / 2;
  const meaning = embedding === null ? 0 : weights.embedding * (embedding - embeddingFloor);
  return { score: Math.max(weights.text * (tfidf * proof), meaning, 0) + weights.files * files, tfidf, files };
}

const share = (part: number, whole: number): number => (whole > 0 ? Math.min(1, part / whole) : 0);

/** The keys of a path: itself, its base name (`/retry.ts`; a clean path never starts with a slash) and its directory (`src/upload/`). */
export interface PathKey {
  readonly key: string;
  readonly kind: 'path' | 'base' | 'directory';
}

const cleanPath = (path: string): string =>
  path
    .trim()
    .replaceAll('\\', '/')
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/+$/, '');

function filesOfBoth(one: Query, other: Query): string[] {
  const named = new Set(one.files.map(cleanPath));
  return [...new Set(other.files.map(cleanPath))].filter((file) => file !== '' && named.has(file));
}

export function pathKeys(path: string): PathKey[] {
  const clean = cleanPath(path);
  if (clean === '') return [];
  const cut = clean.lastIndexOf('/');
  const keys: PathKey[] = [
    { key: clean, kind: 'path' },
    { key: `/${clean.slice(cut + 1)}`, kind: 'base' },
  ];
  if (cut > 0) keys.push({ key: clean.slice(0, cut + 1), kind: 'directory' });
  return keys;
}

export const keyWeight = (kind: PathKey['kind'], { paths }: OverlapSettings): number => (kind === 'path' ? 1 : paths[kind]);

/** The distinct keys of a list of files, with their weights. Keys with weight 0 are left out. */
function weighedKeys(files: readonly string[], settings: OverlapSettings): Map<string, number> {
  const weighed = new Map<string, number>();
  for (const file of files) {
    for (const { key, kind } of pathKeys(file)) {
      const weight = keyWeight(kind, settings);
      if (weight > 0) weighed.set(key, weight);
    }
  }
  return weighed;
}

/** Files that tasks of all kinds touch. The list is needed while a workspace has too few tasks to show this by itself. */
const COMMON_FILES =
  /(?:^|\/)(?:readme|changelog|changes|license|contributing)(?:\.\w+)?$|(?:^|\/)(?:package(?:-lock)?\.json|yarn\.lock|pnpm-lock\.yaml|cargo\.(?:toml|lock)|go\.(?:mod|sum)|pyproject\.toml|requirements\.txt|gemfile(?:\.lock)?|makefile|dockerfile|\.gitignore|tsconfig\.json|index\.\w+|main\.\w+|mod\.rs|__init__\.py|app\.\w+|routes\.\w+|schema\.\w+|types\.ts)$/i;

export const backgroundFileShare = (key: string): number => (COMMON_FILES.test(key) ? 0.05 : key.endsWith('/') ? 0.01 : 0.001);

/** With these statistics, only the background frequencies count: a handful of texts cannot show how informative a word is. */
const NO_STATISTICS: Statistics = { documents: 0, frequency: () => 0, fileFrequency: () => 0, prefixFrequency: () => 0 };

/** Only the beginning of a description is compared. It shows the subject, and other writers wait during the comparison. */
const CHARACTERS = 500;
const brief = ({ title, scope, description }: TaskText): TaskText => ({ title, scope, description: description?.slice(0, CHARACTERS) });

/** Returns the id of the most similar choice, or null if the score of every choice is too low even for a warning. */
export function bestFit(text: TaskText, choices: readonly (TaskText & { id: string })[]): string | null {
  const query = { analysed: analyse(brief(text)), files: [] };
  let best: { id: string; score: number } | null = null;
  for (const choice of choices) {
    const scored = scorePair(query, { id: choice.id, analysed: analyse(brief(choice)), files: [] }, NO_STATISTICS, DEFAULT_SETTINGS);
    if (scored.textualEvidence && scored.score >= DEFAULT_SETTINGS.warn && scored.score > (best?.score ?? 0)) best = scored;
  }
  return best?.id ?? null;
}
