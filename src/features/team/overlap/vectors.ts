import type { Services } from '../../../kernel/call.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, chunks, saveRows } from '../../../storage/rows.ts';
import type { OverlapItemRow } from '../../../storage/schema-rows.ts';
import type { Embedder } from './embedder.ts';
import { findItem, nextState } from './store.ts';
import { embeddedText } from './terms.ts';

const EVERY_MS = 1_000;
/** The model gets only a few texts at a time, so that the query of a check does not have to wait long for it. */
const BATCH = 4;
const PAGE = 200;

/** Adds a vector to each item soon after the item is written or changed. If the model is unavailable, the vector is added later. */
export function vectorSweep({ store, clock, log }: Services, embedder: Embedder): Sweep {
  /** For each workspace, the revision up to which items were processed. */
  const seen = new Map<string, number>();
  let quietUntil = 0;

  async function pending(workspace: string, after: number): Promise<OverlapItemRow[]> {
    return await store.reader
      .selectFrom('overlap_items')
      .selectAll()
      .where('workspace_id', '=', workspace)
      .where('revision', '>', after)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('overlap_vectors')
              .select('item_id')
              .whereRef('overlap_vectors.workspace_id', '=', 'overlap_items.workspace_id')
              .whereRef('overlap_vectors.item_id', '=', 'overlap_items.id')
              .where('overlap_vectors.model', '=', embedder.model),
          ),
        ),
      )
      .orderBy('revision')
      .limit(PAGE)
      .execute();
  }

  async function save(workspace: string, item: OverlapItemRow, vector: Float32Array): Promise<void> {
    await store.write(workspace, async (tx) => {
      const now = await findItem(tx.db, workspace, item.id);
      // If the item has changed or disappeared in the meantime, the vector belongs to the old text and is dropped.
      if (!now || embeddedText(now) !== embeddedText(item)) return;
      const row = { workspace_id: workspace, item_id: item.id, model: embedder.model, vector: encodeVector(vector) };
      await saveRows(tx.db, 'overlap_vectors', ['workspace_id', 'item_id', 'model'], row);
      const { revision } = await nextState(tx.db, workspace);
      await changeRows(tx.db, 'overlap_items', { workspace_id: workspace, id: item.id }, { revision });
    });
  }

  return {
    name: 'vectors',
    everyMs: EVERY_MS,
    async run() {
      if (clock.now() < quietUntil) return;
      try {
        for (const { workspace_id: workspace, revision } of await store.reader.selectFrom('overlap_state').select(['workspace_id', 'revision']).execute()) {
          while ((seen.get(workspace) ?? 0) < revision) {
            const items = await pending(workspace, seen.get(workspace) ?? 0);
            for (const batch of chunks(items, BATCH)) {
              const vectors = await embedder.embed(batch.map(embeddedText));
              for (const [index, item] of batch.entries()) await save(workspace, item, vectors[index] as Float32Array);
            }
            seen.set(workspace, items.length < PAGE ? revision : (items.at(-1)?.revision ?? revision));
          }
        }
      } catch (error) {
        quietUntil = clock.now() + 30_000;
        log.warn('embedding failed; retrying in 30 s', { error });
      }
    },
  };
}

export function decodeVector(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

export const encodeVector = (vector: Float32Array): string => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');

const VECTORS_AT_ONCE = 300;

/** The vectors that `model` computed for these items. */
export async function readVectors(db: Db, workspace: string, ids: readonly string[], model: string): Promise<Map<string, Float32Array>> {
  const found = new Map<string, Float32Array>();
  for (const some of chunks(ids, VECTORS_AT_ONCE)) {
    const rows = await db
      .selectFrom('overlap_vectors')
      .select(['item_id', 'vector'])
      .where('workspace_id', '=', workspace)
      .where('model', '=', model)
      .where('item_id', 'in', some)
      .execute();
    for (const { item_id, vector } of rows) found.set(item_id, decodeVector(vector));
  }
  return found;
}
