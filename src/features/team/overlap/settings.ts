/**
 * All weights and thresholds of overlap detection. They were fitted with `npm run bench -- overlap-quality` to real duplicates and to
 * `test/overlap-cases.json`. docs/overlap.md shows the curve; change it first, and then the values here.
 */
export interface OverlapSettings {
  readonly weights: { readonly text: number; readonly files: number; readonly embedding: number };
  /** Matches from this score on are stored as a warning. They never block. */
  readonly warn: number;
  /** Matches from this score on require a verdict, if they also meet the other conditions. */
  readonly escalate: number;
  /** Below this TF-IDF cosine, a match has no textual evidence, even if many files are the same. */
  readonly textualEvidence: number;
  /** From this embedding cosine on, the similar meaning counts as textual evidence and as information. */
  readonly embeddingEvidence: number;
  /** The embedding cosine of unrelated texts, which scores zero. Each model may need its own value. */
  readonly embeddingFloor: number;
  /** A text whose term vector has this length counts half, because the similarity of short texts proves less than that of long ones. */
  readonly shortText: number;
  /** The number of imaginary documents that the background adds to IDF. */
  readonly background: number;
  /** If at least this many items have the same title prefix, the prefix marks a batch, and its words do not count. */
  readonly batchPrefix: number;
  /** How much the same base name and the same directory count. The same path counts 1. */
  readonly paths: { readonly base: number; readonly directory: number };
  readonly lowInformation: {
    /** The information, as a sum of background IDF in nats, that two tasks must share. */
    readonly nats: number;
    /** The minimum number of informative terms in each task. A single word, even a rare one, describes a topic and not a piece of work. */
    readonly telling: number;
    /** A term is not informative if at least this share of software tasks in general contains it. */
    readonly generic: number;
  };
}

export const DEFAULT_SETTINGS: OverlapSettings = {
  weights: { text: 12.8, files: 4.6, embedding: 4.8 },
  warn: 1.4,
  escalate: 3.8,
  textualEvidence: 0.1,
  embeddingEvidence: 0.7,
  embeddingFloor: -0.05,
  shortText: 4,
  background: 200,
  batchPrefix: 3,
  paths: { base: 0.3, directory: 0.1 },
  lowInformation: { nats: 5, telling: 2, generic: 0.02 },
};

/** Settings for splitting texts into terms. A workspace cannot change them, because the stored items depend on them. */
export const ANALYSIS = { titleWeight: 2, scopeWeight: 1, maximumTerms: 120, maximumCharacters: 8_000 } as const;

/** Converts settings to the field names of the contract. */
export const figuresOf = ({ warn, escalate, weights, embeddingEvidence, embeddingFloor }: OverlapSettings) => ({
  warn,
  escalate,
  text_weight: weights.text,
  file_weight: weights.files,
  meaning_weight: weights.embedding,
  meaning_evidence: embeddingEvidence,
  meaning_floor: embeddingFloor,
});
