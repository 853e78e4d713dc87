import { APPROVAL_PREFIX, APPROVAL_QUESTION } from '../../../kernel/ports.ts';
import type { Exchange, Json } from '../../../kernel/relay.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import { readKept } from './kept-arguments.ts';

const SHOWN_CHARACTERS = 2_000;

/** Whether the caller's client can ask its user with a form. In the first protocol revision with elicitation, clients declare forms as `{}`. */
export function canAskByForm({ capabilities }: Exchange): boolean {
  const { elicitation } = capabilities;
  return typeof elicitation === 'object' && elicitation !== null && ('form' in elicitation || !('url' in elicitation));
}

export function approvalQuestion(row: ApprovalRow): Json {
  const what =
    row.noun === 'resource' ? `read resources of the server ${row.name}` : `${row.noun === 'prompt' ? 'get the prompt' : 'call the tool'} ${row.name}`;
  const args = row.arguments === null ? undefined : readKept(row.arguments);
  const shown = args && `${args.text.slice(0, SHOWN_CHARACTERS)}${args.cut || args.text.length > SHOWN_CHARACTERS ? ` … (${args.bytes} bytes in all)` : ''}`;
  return {
    mode: 'form',
    message: `Covenant asks for approval: may your agent ${what}?${shown ? `\nArguments: ${shown}` : ''}`,
    requestedSchema: {
      type: 'object',
      properties: { approve: { type: 'boolean', title: 'Approve', description: 'Allow this one call.' } },
      required: ['approve'],
    },
  };
}

/** Returns the question as a result, for clients that support this. Such a client then repeats the call with `requestState` and its user's answer. */
export const inputRequiredResult = (row: ApprovalRow): Json => ({
  resultType: 'input_required',
  inputRequests: { [APPROVAL_QUESTION]: { method: 'elicitation/create', params: approvalQuestion(row) } },
  requestState: APPROVAL_PREFIX + row.id,
});

/** Reads the answer to an approval question. Undefined if nobody answered, or if the answer does not fit the question. */
export function readAnswer(answer: unknown): 'approve' | 'refuse' | undefined {
  const { action, content } = (answer ?? {}) as { action?: unknown; content?: { approve?: unknown } | null };
  if (action === 'decline') return 'refuse';
  if (action !== 'accept') return undefined;
  if (content?.approve === true) return 'approve';
  return content?.approve === false ? 'refuse' : undefined;
}
