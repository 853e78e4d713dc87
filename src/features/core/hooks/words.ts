import { beginning } from '../../../kernel/excerpt.ts';

/** Other people's text for an agent's context: quoted and on one line, so that it is not read as the server's words. */
export const quoted = (text: string, most: number): string => JSON.stringify(beginning(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), most));

const PLAIN_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]{1,200}$/u;

/** A path as it is, or quoted if it could read as a sentence. Repositories and claims may contain paths written to be read as instructions. */
export const plainPath = (path: string): string => (PLAIN_NAME.test(path) ? path : quoted(path, 200));

export const countOf = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** An agent may know a repository by several names. Only this name matches the claims of others. */
export const repoInstruction = (repo: string): string => `In claims, set repo to ${JSON.stringify(repo)}.`;

/** The first of these paths, and the number of the rest. */
export const firstPaths = (paths: readonly string[], most: number): string =>
  [...paths.slice(0, most).map(plainPath), ...(paths.length > most ? [`and ${paths.length - most} more`] : [])].join(', ');
