import { beginning } from '../../../kernel/excerpt.ts';

/**
 * Formats a text of another person for an agent's context. The text is quoted and on one line, so that the agent does not take it
 * for a text of the server.
 */
export const quoted = (text: string, most: number): string => JSON.stringify(beginning(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), most));

const PLAIN_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]{1,200}$/u;

/**
 * Returns a path unchanged, or quoted if it could be read as a sentence. Somebody may have chosen a path in a repository or claim
 * so that agents read it as an instruction.
 */
export const plainPath = (path: string): string => (PLAIN_NAME.test(path) ? path : quoted(path, 200));

export const countOf = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/**
 * Tells the agent which repository name to use in claims. An agent may know several names of a repository, but only this one
 * matches the claims of others.
 */
export const repoInstruction = (repo: string): string => `In claims, set repo to ${JSON.stringify(repo)}.`;

/** Lists the first of these paths and the number of the other paths. */
export const firstPaths = (paths: readonly string[], most: number): string =>
  [...paths.slice(0, most).map(plainPath), ...(paths.length > most ? [`and ${paths.length - most} more`] : [])].join(', ');
