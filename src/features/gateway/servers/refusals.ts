import { Refusal } from '../../../kernel/reply.ts';
import type { WithheldReason } from './contract.ts';
import { MAX_LEVELS } from './nesting.ts';
import type { WithheldDefinition } from './pins.ts';

export function downRefusal(server: string, problem: string, nextStartInMs?: number): Refusal {
  const seconds = nextStartInMs === undefined ? undefined : Math.max(1, Math.ceil(nextStartInMs / 1000));
  const when = seconds === undefined ? '' : ` It restarts in ${seconds} s.`;
  const next = `Repeat the call ${seconds === undefined ? 'later' : `in ${seconds} s`}. Its log: \`covenant servers logs ${server}\`.`;
  return new Refusal('UPSTREAM_DOWN', `The server ${server} is down. ${problem}${when}`, next, { server });
}

const WHY: Record<WithheldReason, string> = {
  new: 'is new on its server and not approved yet',
  changed: 'was changed by its server and the change is not approved yet',
  renamed: 'was renamed by its server and the new name is not approved yet',
  gone: 'is gone: its server does not list it any more',
  name_taken: 'is withheld: another tool already uses this name',
  duplicate: 'is withheld: its server lists two definitions with this name',
  invalid: 'is withheld: its definition is invalid',
};

/** The refusal for callers that have a grant for a tool or prompt which is withheld. */
export function withheldRefusal({ server, kind, name, exposed, reason }: WithheldDefinition): Refusal {
  // Servers choose their names freely. A name may look like a text of Covenant or contain a shell command, so only safe names are shown.
  const approve = `covenant servers approve ${server} --tool ${/^[A-Za-z0-9_.-]{1,128}$/.test(name) ? name : exposed}`;
  const next =
    reason === 'gone' || reason === 'name_taken'
      ? `Ask the operator to check ${server} with \`covenant servers list\`.`
      : `Ask the operator to review it with \`${approve}\`.`;
  return new Refusal('TOOL_WITHHELD', `The ${kind} ${exposed} ${WHY[reason]}.`, next, { server, reason });
}

export function invalidAnswerRefusal(server: string, detail: string): Refusal {
  return new Refusal(
    'UPSTREAM_INVALID',
    `The answer of the server ${server} is not valid MCP: ${detail}`,
    `Ask the operator to check \`covenant servers logs ${server}\`.`,
    {
      server,
    },
  );
}

export function tooDeepRefusal(): Refusal {
  return new Refusal('INVALID_INPUT', `The arguments are nested deeper than ${MAX_LEVELS} levels.`, 'Repeat the call with less deeply nested arguments.');
}

export function cannotAskRefusal(server: string, method: string): Refusal {
  return new Refusal(
    'INPUT_REQUIRED',
    `The server ${server} requires more input (${method}), which this client cannot be asked for.`,
    'Repeat the call from an MCP client that supports such questions.',
    { server, method },
  );
}
