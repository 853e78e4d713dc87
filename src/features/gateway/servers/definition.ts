import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Json } from '../../../kernel/relay.ts';
import { canonicalJson } from '../../../storage/journal.ts';
import type { PinKind } from './contract.ts';

/** Characters without a shape of their own, and half a surrogate pair. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u;
/** A name that a person can see and both engines can keep. */
const name = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => !UNSEEN.test(text));
export const replaceUnseen = (text: string): string => text.replace(new RegExp(UNSEEN, 'gu'), '\uFFFD');

const json = z.record(z.string(), z.unknown());
const described = { name, title: z.string().optional(), description: z.string().optional(), icons: z.array(json).optional(), _meta: json.optional() };

/** One wrong definition in a list makes many clients refuse the whole list: it is left out before it comes to that. */
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

/** Not too deep, and the same when it is written and read again: a number such as 1e999 is not. */
function isKept(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'number' || Number.isFinite(value);
  return levels > 0 && Object.values(value).every((inner) => isKept(inner, levels - 1));
}

/**
 * Identifies a definition. Everything in it counts but `_meta`, which servers fill with what differs from one start to the next;
 * nothing is lost by that, because the `_meta` that is offered is the one that was approved.
 */
export function definitionHash({ _meta, ...definition }: Json): string {
  return hash('sha256', canonicalJson(definition));
}

/** The same for a tool and for the same tool under another name. */
export function namelessHash({ name: _, ...definition }: Json): string {
  return definitionHash(definition);
}
