import { setImmediate as breathe } from 'node:timers/promises';
import { loadTokenizer } from '../../workflow/recovery/index.ts';
import type { Offered } from './offered.ts';

/** By the schema, which stays the same object for as long as the tool is offered as it is. */
const known = new WeakMap<object, number>();

/** What the definition takes of a model's context, in tokens: its name, description and input schema. Null: it is withheld, and nobody has seen it. */
export async function tokensOf({ name, description, inputSchema, state }: Offered): Promise<number | null> {
  if (state === 'withheld') return null;
  const counted = known.get(inputSchema);
  if (counted !== undefined) return counted;
  const tokenizer = await loadTokenizer();
  // Another server may have said much: others are served between two definitions.
  await breathe();
  const tokens = tokenizer.count(JSON.stringify({ name, description, inputSchema }));
  known.set(inputSchema, tokens);
  return tokens;
}
