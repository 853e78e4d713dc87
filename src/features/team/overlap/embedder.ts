import type { EmbedderState } from './contract.ts';
import { embeddedText, type TaskText } from './terms.ts';

/** A model that turns texts into vectors. It is optional and slow, and may be unavailable at times. */
export interface Embedder {
  /** Vectors of different models cannot be compared. */
  readonly model: string;
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbeddedQuery {
  readonly vector: Float32Array | undefined;
  readonly embedder: EmbedderState;
}

/** The maximum time that a check waits for the model. */
const PATIENCE_MS = 60;
/** After a failure, the model is not asked for this long, because every check would wait for nothing. */
const REST_MS = 10_000;
/** The maximum number of open requests. The model could not answer more of them in time, and they would delay later requests. */
const MAX_ASKED = 8;

/** Asks the model for the vector of a query, within the time that a check can wait. */
export class QueryEmbedder {
  readonly #embedder: Embedder;
  readonly #patienceMs: number;
  readonly #failed: (error: unknown) => void;
  #restUntil = 0;
  #asked = 0;

  constructor(embedder: Embedder, failed: (error: unknown) => void = () => {}, patienceMs = PATIENCE_MS) {
    this.#embedder = embedder;
    this.#failed = failed;
    this.#patienceMs = patienceMs;
  }

  async ask(text: TaskText): Promise<EmbeddedQuery> {
    if (performance.now() < this.#restUntil) return { vector: undefined, embedder: 'down' };
    if (this.#asked >= MAX_ASKED) return { vector: undefined, embedder: 'late' };
    this.#asked++;
    const question = this.#embedder
      .embed([embeddedText(text)])
      .then(
        ([vector]): EmbeddedQuery => ({ vector, embedder: 'ok' }),
        (error): EmbeddedQuery => {
          this.#restUntil = performance.now() + REST_MS;
          this.#failed(error);
          return { vector: undefined, embedder: 'down' };
        },
      )
      .finally(() => this.#asked--);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<EmbeddedQuery>((resolve) => {
      timer = setTimeout(() => resolve({ vector: undefined, embedder: 'late' }), this.#patienceMs);
    });
    return await Promise.race([question, late]).finally(() => clearTimeout(timer));
  }
}
