import type { OverlapItemRow } from '../../../storage/schema-rows.ts';

/** A model that turns texts into vectors: optional, slow, and sometimes away. */
export interface Embedder {
  /** Vectors of different models cannot be compared. */
  readonly model: string;
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export type EmbedderState = 'off' | 'ok' | 'late' | 'down';

export interface Asked {
  readonly vector: Float32Array | undefined;
  readonly embedder: EmbedderState;
}

/** The text that stands for a piece of work; the same for a question as for what is stored. */
export interface Embedded {
  readonly title: string;
  readonly scope: string | null;
  readonly description: string | null;
}

/** Where work was described at length and given no scope, its beginning serves as one. */
const SCOPE_SHOWN = 300;

export const scopeOf = ({ scope, description }: Pick<Embedded, 'scope' | 'description'>): string | null => scope ?? description?.slice(0, SCOPE_SHOWN) ?? null;

export const embeddedText = ({ title, scope }: Pick<OverlapItemRow, 'title' | 'scope'>): string => (scope ? `${title}\n${scope}` : title);

/** A check waits no longer than this for the model. */
const PATIENCE_MS = 60;
/** After a failure the model is left alone for so long, so that each check does not wait for it anew. */
const REST_MS = 10_000;
/** Who would stand behind so many others is not served in time: the question would only make the next ones late as well. */
const MOST_ASKED = 8;

/** Asks the model for the vector of a question, within the patience of a check. */
export class QueryEmbedder {
  readonly #embedder: Embedder | null;
  readonly #patienceMs: number;
  readonly #failed: (error: unknown) => void;
  #restUntil = 0;
  #asked = 0;

  constructor(embedder: Embedder | null, failed: (error: unknown) => void = () => {}, patienceMs = PATIENCE_MS) {
    this.#embedder = embedder;
    this.#failed = failed;
    this.#patienceMs = patienceMs;
  }

  async ask(text: Embedded): Promise<Asked> {
    if (!this.#embedder) return { vector: undefined, embedder: 'off' };
    if (performance.now() < this.#restUntil) return { vector: undefined, embedder: 'down' };
    if (this.#asked >= MOST_ASKED) return { vector: undefined, embedder: 'late' };
    this.#asked++;
    const question = this.#embedder
      .embed([embeddedText({ title: text.title, scope: scopeOf(text) })])
      .then(
        ([vector]): Asked => ({ vector, embedder: 'ok' }),
        (error): Asked => {
          this.#restUntil = performance.now() + REST_MS;
          this.#failed(error);
          return { vector: undefined, embedder: 'down' };
        },
      )
      .finally(() => this.#asked--);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Asked>((resolve) => {
      timer = setTimeout(() => resolve({ vector: undefined, embedder: 'late' }), this.#patienceMs);
    });
    return await Promise.race([question, late]).finally(() => clearTimeout(timer));
  }
}
