/**
 * Every weight and threshold of overlap detection, fitted on real duplicates and on `test/overlap-cases.json` with
 * `npm run bench -- overlap-quality`. docs/overlap.md shows the curve. Change them there first, then here.
 */
export interface OverlapSettings {
  readonly weights: { readonly text: number; readonly files: number; readonly embedding: number };
  /** Minimum score of a stored warning. Never blocks. */
  readonly warn: number;
  /** Minimum score that requires a verdict, if the other conditions are met too. */
  readonly escalate: number;
  /** TF-IDF cosine below which a match has no textual evidence, whatever files are shared. */
  readonly textualEvidence: number;
  /** Embedding cosine that counts as textual evidence, and as information. */
  readonly embeddingEvidence: number;
  /** Embedding cosine that scores zero; another model may need another value. */
  readonly embeddingFloor: number;
  /** Length of a text's vector at which it counts half: two short texts that agree prove less than two long ones. */
  readonly shortText: number;
  /** The number of imaginary documents that the background adds to IDF. */
  readonly background: number;
  /** From this many items with the same title prefix on, the prefix marks a batch and its words do not count. */
  readonly batchPrefix: number;
  /** Weight of a shared base name and of a shared directory, relative to 1 for the same path. */
  readonly paths: { readonly base: number; readonly directory: number };
  readonly lowInformation: {
    /** Information (sum of background IDF, in nats) that two tasks must share. */
    readonly nats: number;
    /** The minimum number of informative terms in each task: one word, however rare, is a topic and not a piece of work. */
    readonly telling: number;
    /** A term this common in software tasks in general is not informative. */
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

/** How a text becomes terms. These values shape stored data, so a workspace cannot change them. */
export const ANALYSIS = { titleWeight: 2, scopeWeight: 1, maximumTerms: 120, maximumCharacters: 8_000 } as const;

/** The settings under the names of the contract. */
export const figuresOf = ({ warn, escalate, weights, embeddingEvidence, embeddingFloor }: OverlapSettings) => ({
  warn,
  escalate,
  text_weight: weights.text,
  file_weight: weights.files,
  meaning_weight: weights.embedding,
  meaning_evidence: embeddingEvidence,
  meaning_floor: embeddingFloor,
});
