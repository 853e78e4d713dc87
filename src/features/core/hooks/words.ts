import { beginning } from '../../../kernel/excerpt.ts';

/** Somebody's words for an agent's context: on one line and in quotes, so that they read as theirs. */
export const quoted = (text: string, most: number): string => JSON.stringify(beginning(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), most));

const PLAIN_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]{1,200}$/u;

/** A path as it is, but one that could read as a sentence: a repository may have files, and others claims, that are named to be read. */
export const plainPath = (path: string): string => (PLAIN_NAME.test(path) ? path : quoted(path, 200));

export const countOf = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Of the agent's own names for it only this one meets the claims of others. */
export const repoInstruction = (repo: string): string => `In claims, call this repository ${JSON.stringify(repo)}.`;

/** The first of these paths, and how many more there are. */
export const firstPaths = (paths: readonly string[], most: number): string =>
  [...paths.slice(0, most).map(plainPath), ...(paths.length > most ? [`and ${paths.length - most} more`] : [])].join(', ');
