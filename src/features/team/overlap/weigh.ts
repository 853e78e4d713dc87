import { ANALYSIS, type OverlapSettings } from './settings.ts';
import type { Analysed } from './terms.ts';

/** How common things are in the workspace. `fileFrequency` is asked for each of the keys of `pathKeys`. */
export interface Statistics {
  readonly documents: number;
  frequency(term: string): number;
  fileFrequency(key: string): number;
  prefixFrequency(prefix: string): number;
}

/**
 * Inverse document frequency in two parts, `rarity(documents) - commonness(key)`, so that an index need not touch all keys when one
 * item comes. The background adds imaginary documents in which a key is as common as in software tasks in general.
 */
export const rarity = (documents: number, background: number): number => Math.log(documents + background + 1);
export const commonness = (frequency: number, share: number, background: number): number => Math.log(frequency + background * share + 0.5);

export const inverseFrequency = (documents: number, frequency: number, share: number, { background }: OverlapSettings): number =>
  Math.max(0, rarity(documents, background) - commonness(frequency, share, background));

/** The count of a term, damped: the tenth mention says little more than the second. */
export const damped = (count: number): number => (count <= 0 ? 0 : Math.log1p(count));

/** The term counts that enter a score: without the words of a prefix that marks a batch. */
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

export const isBatch = (prefix: string | null, statistics: Statistics, settings: OverlapSettings): boolean =>
  prefix !== null && statistics.prefixFrequency(prefix) >= settings.batchPrefix;

/** Four sums at a time, so that the processor need not wait for each addition before it starts the next. */
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

/** Null where a side has no vector, or one of another model. */
export function cosine(one: Float32Array | undefined, other: Float32Array | undefined): number | null {
  if (!one || !other || one.length !== other.length) return null;
  const lengths = squares(one) * squares(other);
  return lengths > 0 ? product(one, other) / Math.sqrt(lengths) : null;
}

/** How much two texts can prove by agreeing, 0 to 1. */
const weightOfProof = (norm: number, otherNorm: number, { shortText }: OverlapSettings): number =>
  norm > 0 && otherNorm > 0 ? (norm / (norm + shortText)) * (otherNorm / (otherNorm + shortText)) : 0;

/** The cosine of two texts, and the same reduced by how short they are. */
export function textOf(product: number, norm: number, otherNorm: number, settings: OverlapSettings): { tfidf: number; text: number } {
  const tfidf = share(product, norm * otherNorm);
  return { tfidf, text: tfidf * weightOfProof(norm, otherNorm, settings) };
}

/** No candidate with this product can have a higher text score: its norm is at least the part that the product shows (Cauchy-Schwarz). */
export const highestText = (product: number, norm: number, { shortText }: OverlapSettings): number =>
  norm > 0 ? product / ((norm + shortText) * (product / norm + shortText)) : 0;

/** Half Jaccard, half the share of the shorter list: an agent that names one right file of ten has still named it. */
export const filesOf = (common: number, sum: number, otherSum: number): number =>
  (share(common, sum + otherSum - common) + share(common, Math.min(sum, otherSum))) / 2;

const share = (part: number, whole: number): number => (whole > 0 ? Math.min(1, part / whole) : 0);

/**
 * Words and meaning are two readings of the same text, so the stronger counts and they are not added: tasks of one component mean
 * similar things, and a sum would raise all of them. A model can therefore only add matches.
 */
export function combine(text: number, files: number, embedding: number | null, { weights, embeddingFloor }: OverlapSettings): number {
  const meaning = embedding === null ? 0 : weights.embedding * (embedding - embeddingFloor);
  return Math.max(weights.text * text, meaning, 0) + weights.files * files;
}
