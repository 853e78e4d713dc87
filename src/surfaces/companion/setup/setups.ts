import { join } from 'node:path';
import { CLIENT_NAMES, type ClientName } from '../../../clients/client.ts';
import { placeOf } from '../../../machine/git/place.ts';
import { covibeHome, readJson, replaceFile } from '../../../wire/covibe-home.ts';

/** A working tree whose agents were set up, and for which server. */
export interface SetUp {
  readonly root: string;
  readonly origin: string;
  readonly hooks: 'http' | 'command';
  readonly clients: readonly ClientName[];
}

const setupsPath = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'setups.json');

export function setups(env: NodeJS.ProcessEnv): SetUp[] {
  const known = (readJson(setupsPath(env)) ?? {}) as { setups?: unknown };
  return (Array.isArray(known.setups) ? known.setups : []).filter(isSetUp);
}

export const setUpAt = (env: NodeJS.ProcessEnv, root: string): SetUp | undefined => setups(env).find((each) => each.root === root);

/** Of the working tree around a folder, or of the repository that it is a worktree of. */
export function setUpAround(env: NodeJS.ProcessEnv, folder: string): SetUp | undefined {
  const place = placeOf(folder);
  return place && (setUpAt(env, place.root) ?? setUpAt(env, place.checkout));
}

/** Undefined instead of a setup: forgets it. Leaves the file alone where that changes nothing. */
export function noteSetup(env: NodeJS.ProcessEnv, root: string, made: Omit<SetUp, 'root'> | undefined): void {
  const known = setups(env);
  const next = [...known.filter((each) => each.root !== root), ...(made ? [{ root, ...made }] : [])].toSorted((a, b) => a.root.localeCompare(b.root));
  if (JSON.stringify(next) !== JSON.stringify(known)) replaceFile(setupsPath(env), `${JSON.stringify({ setups: next }, null, 2)}\n`);
}

function isSetUp(value: unknown): value is SetUp {
  const { root, origin, hooks, clients } = (value ?? {}) as Partial<SetUp>;
  const isClient = (client: unknown) => CLIENT_NAMES.some((known) => known === client);
  return (
    typeof root === 'string' && typeof origin === 'string' && (hooks === 'http' || hooks === 'command') && Array.isArray(clients) && clients.every(isClient)
  );
}
