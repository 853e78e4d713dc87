import { backgroundShare } from './background.ts';
import { backgroundFileShare, cleanPath, weighedKeys } from './paths.ts';
import type { OverlapSettings } from './settings.ts';
import type { Analysed } from './terms.ts';
import { combine, commonness, cosine, countedTerms, damped, filesOf, isBatch, rarity, type Statistics, textOf } from './weigh.ts';

export type { Statistics } from './weigh.ts';

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
  /** Weighed share of the files that both name, 0 to 1. */
  readonly files: number;
  /** Cosine of the two vectors; null where one has none. */
  readonly embedding: number | null;
  /** Most telling first. */
  readonly sharedTerms: readonly string[];
  readonly sharedFiles: readonly string[];
  /** What they share is too little to say that they are the same work. */
  readonly lowInformation: boolean;
  readonly textualEvidence: boolean;
}

/** One side of a comparison, weighed with the statistics of the moment. */
interface Weighed {
  readonly terms: ReadonlyMap<string, number>;
  readonly norm: number;
  readonly keys: ReadonlyMap<string, number>;
  readonly keySum: number;
}

export function weigh(query: Query, statistics: Statistics, settings: OverlapSettings): Weighed {
  const { background } = settings;
  const rare = rarity(statistics.documents, background);
  const terms = new Map<string, number>();
  let squares = 0;
  for (const [term, count] of countedTerms(query.analysed, isBatch(query.analysed.prefix, statistics, settings))) {
    const weight = damped(count) * Math.max(0, rare - commonness(statistics.frequency(term), backgroundShare(term), background));
    terms.set(term, weight);
    squares += weight * weight;
  }
  const keys = new Map<string, number>();
  let keySum = 0;
  for (const [key, weight] of weighedKeys(query.files, settings)) {
    const weighed = weight * Math.max(0, rare - commonness(statistics.fileFrequency(key), backgroundFileShare(key), background));
    keys.set(key, weighed);
    keySum += weighed;
  }
  return { terms, norm: Math.sqrt(squares), keys, keySum };
}

export const scorePair = (query: Query, candidate: Indexed, statistics: Statistics, settings: OverlapSettings): Scored =>
  scoreWeighed(query, weigh(query, statistics, settings), candidate, statistics, settings);

/** `scorePair` for a query that meets many candidates and is weighed once. */
export function scoreWeighed(query: Query, mine: Weighed, candidate: Indexed, statistics: Statistics, settings: OverlapSettings): Scored {
  const theirs = weigh(candidate, statistics, settings);
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
  const { tfidf, text } = textOf(product, mine.norm, theirs.norm, settings);
  const files = filesOf(common, mine.keySum, theirs.keySum);
  const embedding = cosine(query.vector, candidate.vector);
  const sharedTerms = shared.sort((one, other) => other.worth - one.worth || (one.term < other.term ? -1 : 1)).map(({ term }) => term);
  const named = new Set(query.files.map(cleanPath));
  const alike = embedding !== null && embedding >= settings.embeddingEvidence;
  return {
    id: candidate.id,
    score: combine(text, files, embedding, settings),
    tfidf,
    files,
    embedding,
    sharedTerms,
    sharedFiles: [...new Set(candidate.files.map(cleanPath))].filter((file) => file !== '' && named.has(file)),
    lowInformation: isLowInformation(),
    textualEvidence: tfidf >= settings.textualEvidence || alike,
  };

  function isLowInformation(): boolean {
    const { nats, telling } = settings.lowInformation;
    // First what most candidates fail by: hundreds are scored for one that is shown.
    const sharedSays = informationIn(sharedTerms, statistics, settings).nats >= nats;
    if (!sharedSays && !alike) return true;
    const [one, other] = [mine, theirs].map(({ terms }) => informationIn(terms.keys(), statistics, settings)) as [Information, Information];
    if (Math.min(one.telling, other.telling) < telling) return true;
    return !sharedSays && Math.min(one.nats, other.nats) < nats;
  }
}

type Information = ReturnType<typeof informationIn>;

/** From this size on a workspace shows by itself which words stand in everything. */
const GROWN = 20;
const EVERYWHERE = 0.2;

/**
 * How many terms say something, and how much they say together, in nats. A word of everything in the workspace tells no two of its
 * tasks apart, so it adds nothing; but it does make a piece of work out of a topic.
 */
function informationIn(terms: Iterable<string>, statistics: Statistics, { lowInformation }: OverlapSettings): { nats: number; telling: number } {
  let nats = 0;
  let telling = 0;
  for (const term of terms) {
    const share = backgroundShare(term);
    if (share >= lowInformation.generic) continue;
    telling++;
    const isEverywhere = statistics.documents >= GROWN && statistics.frequency(term) > EVERYWHERE * statistics.documents;
    if (!isEverywhere) nats -= Math.log(share);
  }
  return { nats, telling };
}
