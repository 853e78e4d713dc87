import { z } from 'zod';
import type { Embedder } from './embedder.ts';

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
