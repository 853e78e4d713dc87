import { Refusal } from '../../../kernel/errors.ts';
import { MAX_LEVELS } from './nesting.ts';

/** What a caller is told of a server that did not do what was asked. Without the SDK: commands that only look load this too. */

export function invalid(server: string, detail: string): Refusal {
  return new Refusal('UPSTREAM_INVALID', `The server ${server} answered, but not as MCP has it: ${detail}`, 'Ask the operator to look at that server.', {
    server,
  });
}

export function down(server: string, problem: string, nextStartInMs?: number): Refusal {
  const when = nextStartInMs === undefined ? '' : ` It is started again in ${Math.max(1, Math.ceil(nextStartInMs / 1000))} s.`;
  const next = `Call again later; \`covenant servers logs ${server}\` has what it said.`;
  return new Refusal('UPSTREAM_DOWN', `The server ${server} is down. ${problem}${when}`, next, { server });
}

export function tooDeep(): Refusal {
  return new Refusal('INVALID_INPUT', `The arguments are nested deeper than ${MAX_LEVELS} levels.`, 'Call again with flatter arguments.');
}

export function cannotAsk(server: string, method: string): Refusal {
  return new Refusal(
    'INPUT_REQUIRED',
    `The server ${server} wants more input (${method}), and this surface cannot ask for it.`,
    'Call it from an MCP client that answers such questions.',
    { server, method },
  );
}
