import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { covibeHome, readJson, replaceFile } from '../../../wire/covibe-home.ts';

/** The downloaded release that runs in place of the installed program. */
export interface CurrentRelease {
  readonly version: string;
  readonly program: string;
}

export const releasesFolder = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'companion');

const pathOf = (env: NodeJS.ProcessEnv): string => join(releasesFolder(env), 'current.json');

export function currentRelease(env: NodeJS.ProcessEnv): CurrentRelease | undefined {
  const { version, program } = (readJson(pathOf(env)) ?? {}) as Partial<CurrentRelease>;
  return typeof version === 'string' && typeof program === 'string' && existsSync(program) ? { version, program } : undefined;
}

export const switchToRelease = (env: NodeJS.ProcessEnv, current: CurrentRelease): void => replaceFile(pathOf(env), `${JSON.stringify(current, null, 2)}\n`);

/** Removes all downloaded releases except the current one, whether they are complete or not. */
export function clearReleases(env: NodeJS.ProcessEnv): void {
  const folder = releasesFolder(env);
  const kept = new Set([currentRelease(env)?.version, 'current.json']);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (!kept.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
}

export const forgetRelease = (env: NodeJS.ProcessEnv): void => rmSync(pathOf(env), { force: true });
