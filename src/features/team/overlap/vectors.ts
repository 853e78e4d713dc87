import { chunks } from '../../../storage/chunks.ts';
import type { Db } from '../../../storage/engine.ts';

const CHUNK = 300;

/** The vectors of these items that were made by `model`. */
export async function readVectors(db: Db, workspace: string, ids: readonly string[], model: string): Promise<Map<string, Float32Array>> {
  const found = new Map<string, Float32Array>();
  for (const some of chunks(ids, CHUNK)) {
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

export function decodeVector(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

export const encodeVector = (vector: Float32Array): string => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');

export async function deleteVector(db: Db, workspace: string, id: string): Promise<void> {
  await db.deleteFrom('overlap_vectors').where('workspace_id', '=', workspace).where('item_id', '=', id).execute();
}
