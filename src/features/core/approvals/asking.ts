import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { APPROVAL_PREFIX, APPROVAL_QUESTION } from '../../../kernel/ports.ts';
import type { Exchange, Json } from '../../../kernel/relay.ts';
import { canonicalJson } from '../../../storage/journal.ts';
import { type JsonText, readJson } from '../../../storage/rows.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';

/** What a person is shown of a call's arguments: canonical JSON, or the beginning of it. */
const kept = z.strictObject({ text: z.string(), cut: z.boolean(), bytes: z.int() });
type KeptArguments = z.output<typeof kept>;

const MAX_KEPT_BYTES = 32 * 1024;

export function keepArguments(args: unknown): JsonText {
  const whole = Buffer.from(canonicalJson(args ?? {}));
  const cut = whole.length > MAX_KEPT_BYTES;
  // Half a character at the end of what is kept reads as U+FFFD, and stands for nothing.
  const text = cut ? whole.toString('utf8', 0, MAX_KEPT_BYTES).replace(/\uFFFD$/, '') : whole.toString();
  return JSON.stringify({ text, cut, bytes: whole.length } satisfies KeptArguments);
}

export const readKept = (text: JsonText): KeptArguments => readJson(kept, text);

/**
 * Whether the arguments are exactly what their canonical form says. Half a surrogate pair, say, has none: what was approved would
 * then not be what is called.
 */
export const isApprovable = (args: unknown): boolean => isDeepStrictEqual(JSON.parse(canonicalJson(args ?? {})), args ?? {});

/** Asking the caller's own client, where it has said that it can ask its user. */

const SHOWN_CHARACTERS = 2_000;

/** A client of the first revision with elicitation says `{}` and means forms. */
export function takesForms({ capabilities }: Exchange): boolean {
  const { elicitation } = capabilities;
  return typeof elicitation === 'object' && elicitation !== null && ('form' in elicitation || !('url' in elicitation));
}

export function question(row: ApprovalRow): Json {
  const what =
    row.noun === 'resource' ? `read resources of the server ${row.name}` : `${row.noun === 'prompt' ? 'get the prompt' : 'call the tool'} ${row.name}`;
  const args = row.arguments === null ? undefined : readKept(row.arguments);
  const shown = args && `${args.text.slice(0, SHOWN_CHARACTERS)}${args.cut || args.text.length > SHOWN_CHARACTERS ? ` … (${args.bytes} bytes in all)` : ''}`;
  return {
    mode: 'form',
    message: `Covenant asks: may your agent ${what}?${shown ? `\nArguments: ${shown}` : ''}`,
    requestedSchema: {
      type: 'object',
      properties: { approve: { type: 'boolean', title: 'Approve', description: 'Let this one call go through.' } },
      required: ['approve'],
    },
  };
}

/** The answer to a call of a client that is asked by results: it calls again with `requestState` and its user's word. */
export const askedResult = (row: ApprovalRow): Json => ({
  resultType: 'input_required',
  inputRequests: { [APPROVAL_QUESTION]: { method: 'elicitation/create', params: question(row) } },
  requestState: APPROVAL_PREFIX + row.id,
});

/** Undefined: nobody was there, or it is no answer to the question. */
export function readAnswer(answer: unknown): 'approve' | 'refuse' | undefined {
  const { action, content } = (answer ?? {}) as { action?: unknown; content?: { approve?: unknown } | null };
  if (action === 'decline') return 'refuse';
  if (action !== 'accept') return undefined;
  if (content?.approve === true) return 'approve';
  return content?.approve === false ? 'refuse' : undefined;
}
