import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { canonicalJson } from '../../../storage/journal.ts';
import { type JsonText, readJson } from '../../../storage/rows.ts';

/** The arguments of a call as a person sees them: canonical JSON, possibly cut. */
const kept = z.strictObject({ text: z.string(), cut: z.boolean(), bytes: z.int() });
type KeptArguments = z.output<typeof kept>;

const MAX_KEPT_BYTES = 32 * 1024;

export function keepArguments(args: unknown): JsonText {
  const whole = Buffer.from(canonicalJson(args ?? {}));
  const cut = whole.length > MAX_KEPT_BYTES;
  // If the cut falls into a character, the rest of it is decoded as U+FFFD, which is removed.
  const text = cut ? whole.toString('utf8', 0, MAX_KEPT_BYTES).replace(/\uFFFD$/, '') : whole.toString();
  return JSON.stringify({ text, cut, bytes: whole.length } satisfies KeptArguments);
}

export const readKept = (text: JsonText): KeptArguments => readJson(kept, text);

/**
 * Whether the canonical form shows exactly these arguments. For example, it cannot show half of a surrogate pair, so a person
 * would approve other arguments than those of the call.
 */
export const isApprovable = (args: unknown): boolean => isDeepStrictEqual(JSON.parse(canonicalJson(args ?? {})), args ?? {});
