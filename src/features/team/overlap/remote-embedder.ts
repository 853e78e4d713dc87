import { z } from 'zod';
import type { Embedder } from './embedder.ts';

interface RemoteSettings {
  /** Address of an endpoint that implements OpenAI's embeddings API. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
}

const TIMEOUT_MS = 20_000;

const embeddingsAnswer = z.object({ data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(8_192) })) });

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
        // Redirects are refused, because they would send the key to another address.
        redirect: 'error',
      });
      if (!response.ok) throw new Error(`the embeddings endpoint answered ${response.status}`);
      const { data } = embeddingsAnswer.parse(await response.json());
      const vectors = texts.map((_, index) => data.find((entry) => entry.index === index)?.embedding);
      return vectors.map((vector) => {
        if (!vector) throw new Error('the embeddings endpoint returned no vector for a text');
        return Float32Array.from(vector);
      });
    },
    async close() {
      closing.abort();
    },
  };
}
