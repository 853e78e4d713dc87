import { type GitPlace, placeOf } from '../../machine/git/place.ts';
import { storedOrigin } from '../../wire/credentials.ts';
import { type BareCommand, type BareInvocation, CliError, type CommandOptions, option } from '../cli/command.ts';
import { DEFAULT_ORIGIN, originFrom } from '../origin.ts';
import { setUpAround } from './state.ts';

export type CompanionCommand = BareCommand;

export const BASE_URL = {
  'base-url': {
    value: 'URL',
    description: 'The address of the Covenant server.',
    default: `COVIBE_BASE_URL, then the server of the last setup here, then ${DEFAULT_ORIGIN}`,
  },
} as const satisfies CommandOptions;

/**
 * Returns the server's origin from the first of these that is set: `--base-url`, `COVIBE_BASE_URL`, the server of this repository's setup, the server of the
 * stored tokens. Otherwise returns the default address on this machine.
 */
export function originOf(invocation: BareInvocation): string {
  const given = option(invocation, 'base-url');
  if (given !== undefined) return originFrom(given, '--base-url');
  const { env, cwd } = invocation;
  return originFrom(env.COVIBE_BASE_URL || setUpAround(env, cwd)?.origin || storedOrigin(env) || DEFAULT_ORIGIN, 'COVIBE_BASE_URL');
}

export function requireRepository(folder: string): GitPlace {
  const place = placeOf(folder);
  if (place) return place;
  throw new CliError(
    'NO_REPOSITORY',
    `${folder} is not in a git repository.`,
    'Run this command inside the repository that your agents work in, or create one there with `git init`.',
  );
}
