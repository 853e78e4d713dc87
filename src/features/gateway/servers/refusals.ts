import { Refusal } from '../../../kernel/reply.ts';
import type { WithheldReason } from './contract.ts';
import { MAX_LEVELS } from './nesting.ts';
import type { WithheldDefinition } from './pins.ts';

export function downRefusal(server: string, problem: string, nextStartInMs?: number): Refusal {
  const when = nextStartInMs === undefined ? '' : ` It is started again in ${Math.max(1, Math.ceil(nextStartInMs / 1000))} s.`;
  const next = `Call again later; \`covenant servers logs ${server}\` has what it said.`;
  return new Refusal('UPSTREAM_DOWN', `The server ${server} is down. ${problem}${when}`, next, { server });
}

const WHY: Record<WithheldReason, string> = {
  new: 'is new on its server, and nobody has approved it',
  changed: 'is not what was approved: its server has changed it',
  renamed: 'is another under a new name, and nobody has approved that',
  gone: 'is not there any more: its server lists it no longer',
  name_taken: 'is withheld: its name belongs to another tool',
  duplicate: 'is withheld: its server lists two of that name',
  invalid: 'is withheld: its definition is not one',
};

/** For callers who may call it. */
export function withheldRefusal({ server, kind, name, exposed, reason }: WithheldDefinition): Refusal {
  // A server chooses its names: they may read like words of ours, or be commands to a shell.
  const approve = `covenant servers approve ${server} --tool ${/^[A-Za-z0-9_.-]{1,128}$/.test(name) ? name : exposed}`;
  const next =
    reason === 'gone' || reason === 'name_taken' ? `Ask the operator: covenant servers list shows ${server}.` : `Ask the operator to look at it: ${approve}`;
  return new Refusal('TOOL_WITHHELD', `The ${kind} ${exposed} ${WHY[reason]}.`, next, { server, reason });
}

export function invalidAnswerRefusal(server: string, detail: string): Refusal {
  return new Refusal('UPSTREAM_INVALID', `The server ${server} answered, but not as MCP has it: ${detail}`, 'Ask the operator to look at that server.', {
    server,
  });
}

export function tooDeepRefusal(): Refusal {
  return new Refusal('INVALID_INPUT', `The arguments are nested deeper than ${MAX_LEVELS} levels.`, 'Call again with flatter arguments.');
}

export function cannotAskRefusal(server: string, method: string): Refusal {
  return new Refusal(
    'INPUT_REQUIRED',
    `The server ${server} wants more input (${method}), and this surface cannot ask for it.`,
    'Call it from an MCP client that answers such questions.',
    { server, method },
  );
}
