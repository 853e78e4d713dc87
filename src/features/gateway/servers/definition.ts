import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Json } from '../../../kernel/relay.ts';
import { canonicalJson } from '../../../storage/journal.ts';
import type { PinKind } from './contract.ts';

/** Invisible characters, and half a surrogate pair. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u;
/** A name that people can see and both engines can store. */
const name = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => !UNSEEN.test(text));
export const replaceUnseen = (text: string): string => text.replace(new RegExp(UNSEEN, 'gu'), '\uFFFD');

const json = z.record(z.string(), z.unknown());
const described = { name, title: z.string().optional(), description: z.string().optional(), icons: z.array(json).optional(), _meta: json.optional() };

/** One invalid definition makes many clients reject the whole list, so it is left out here. */
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

/** Whether a value is not nested too deeply and survives JSON serialization unchanged. A number such as 1e999 does not. */
function isKept(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'number' || Number.isFinite(value);
  return levels > 0 && Object.values(value).every((inner) => isKept(inner, levels - 1));
}

/**
 * Identifies a definition by everything but `_meta`, which differs between starts of some servers. This is safe, because the `_meta` that
 * is offered is always the approved one.
 */
export function definitionHash({ _meta, ...definition }: Json): string {
  return hash('sha256', canonicalJson(definition));
}

/** The same hash for a tool and for the same tool under another name. */
export function namelessHash({ name: _, ...definition }: Json): string {
  return definitionHash(definition);
}
