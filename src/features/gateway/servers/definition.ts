import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Json } from '../../../kernel/relay.ts';
import { canonicalJson } from '../../../storage/journal.ts';
import type { PinKind } from './contract.ts';

/** Matches invisible characters and single halves of surrogate pairs. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u;
/** Names may contain only characters that people can see and that both database engines can store. */
const name = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => !UNSEEN.test(text));
export const replaceUnseen = (text: string): string => text.replace(new RegExp(UNSEEN, 'gu'), '\uFFFD');

const json = z.record(z.string(), z.unknown());
const described = { name, title: z.string().optional(), description: z.string().optional(), icons: z.array(json).optional(), _meta: json.optional() };

/** Definitions that do not match are not offered, because a single invalid definition makes many clients reject the whole list. */
const USABLE: Record<PinKind, z.ZodType> = {
  tool: z.looseObject({
    ...described,
    inputSchema: z.looseObject({ type: z.literal('object') }),
    outputSchema: json.optional(),
    annotations: json.optional(),
  }),
  prompt: z.looseObject({ ...described, arguments: z.array(z.looseObject({ name: z.string(), description: z.string().optional() })).optional() }),
};

const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 100;

export type NamedDefinition = Json & { readonly name: string };

export function isUsable(kind: PinKind, definition: unknown): definition is NamedDefinition {
  return isKept(definition, MAX_DEPTH) && USABLE[kind].safeParse(definition).success && Buffer.byteLength(JSON.stringify(definition)) <= MAX_BYTES;
}

/** Whether a value can be stored as JSON without a change. Values that are nested too deeply and numbers such as 1e999 cannot. */
function isKept(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'number' || Number.isFinite(value);
  return levels > 0 && Object.values(value).every((inner) => isKept(inner, levels - 1));
}

/**
 * Identifies a definition. The hash excludes `_meta`, because some servers send another `_meta` after each start. This is safe: clients are
 * always offered the `_meta` that was approved.
 */
export function definitionHash({ _meta, ...definition }: Json): string {
  return hash('sha256', canonicalJson(definition));
}

/** Excludes the name, so that a renamed tool has the same hash as before. */
export function namelessHash({ name: _, ...definition }: Json): string {
  return definitionHash(definition);
}
