import { z } from 'zod';
import { withoutCredentials } from './repo.ts';

/** Input fields that several contracts share. Within one tool a name has one schema, so each is written once. */

export const id = z.string().min(1).max(64);

export const title = z
  .string()
  .trim()
  .min(1)
  .max(300)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, { error: 'expected one line without control characters' });

/** Free text of bounded length. */
export const text = (max: number) => z.string().trim().min(1).max(max);

const JSON_LIMIT = 64 * 1024;

/** Free JSON of the agent's own, bounded. */
export const details = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= JSON_LIMIT, { error: `expected at most ${JSON_LIMIT} characters of JSON` });

export const repo = z
  .string()
  .trim()
  .overwrite(withoutCredentials)
  .min(1)
  .max(300)
  .describe('The repository, as your team names it: its remote URL or its name. Default for sessions and claims: where your bridge stands.');
export const branch = z.string().trim().min(1).max(300);

/** A path inside a repository, written with forward slashes and without detours. */
export const repoPath = z
  .string()
  .min(1)
  .max(500)
  .refine((path) => !/^[/\\~]|^[A-Za-z]:|\\|(^|\/)\.\.?(\/|$)|\/$|\/\//.test(path), {
    error: 'expected a path relative to the repository, with forward slashes and without "." or ".."',
  });

/** Where a call makes no sense without one. */
export const ownSessionId = id.describe('Your session, from covibe_session start: the call is linked to it.');
export const sessionId = ownSessionId.optional();

/** One way to write it: without a slash at its end, and on systems where two slashes are as good as one, without doubled ones. */
const tidied = (path: string): string => {
  const single = path.startsWith('/') ? path.replace(/\/{2,}/g, '/') : path;
  return /^([A-Za-z]:)?[\\/]+$/.test(single) ? single : single.replace(/[\\/]+$/, '');
};

/** An absolute path, of whichever system, without detours. */
export const absolutePath = z
  .string()
  .trim()
  .max(1_000)
  .overwrite(tidied)
  .refine((path) => /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path) && !/(^|[\\/])\.\.?([\\/]|$)|\p{Cc}/u.test(path), {
    error: 'expected an absolute path without "." or ".."',
  });

export const repositoryPath = absolutePath.describe('The repository, by its absolute path. Default: the one that your bridge or CLI reports.');
