import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_CLIENTS } from '../../../clients/index.ts';
import { runProgram } from '../../../machine/process/process.ts';
import { covibeHome, readJson, replaceFile } from '../../../wire/covibe-home.ts';
import { readText } from '../edit/disk.ts';
import { sha256 } from '../hash.ts';
import { type InitSystem, initSystemOf, type ServiceStep } from './init-systems.ts';

/** The outcome of installing the one service that watches all repositories of this machine. */
export type ServiceOutcome =
  /** `was`: the server to which the service reported before, if it was a different one. */
  | { readonly state: 'running'; readonly file: string; readonly was: string | undefined }
  /** This machine has no supported init system. */
  | { readonly state: 'unavailable' }
  | { readonly state: 'failed'; readonly file: string; readonly reason: string }
  /** The service file differs from the one that setup wrote, so setup did not replace it. The person who changed the file has to decide. */
  | { readonly state: 'changed by hand'; readonly file: string };

type ServiceState = 'running' | 'stopped' | 'absent' | 'unavailable';

interface Machine {
  readonly env: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}

const TIMEOUT_MS = 20_000;

export async function installService({ env, platform = process.platform, origin }: Machine & { readonly origin: string }): Promise<ServiceOutcome> {
  const initSystem = await presentInitSystem(env, platform);
  if (!initSystem) return { state: 'unavailable' };
  const file = initSystem.file(env);
  const before = textOf(file);
  if (before !== undefined && !isOurs(env, file, before)) return { state: 'changed by hand', file };
  const text = initSystem.text({ program: process.execPath, args: [...ownProgram(), 'watch', '--base-url', origin], env: environmentOf(env) });
  const isChanged = text !== before;
  if (isChanged) {
    // The record is written before the file. If setup is killed in between, the next setup recognizes the file as its own and completes the installation.
    replaceFile(recordPath(env), `${JSON.stringify({ file, sha256: [before, text].flatMap((each) => (each === undefined ? [] : [sha256(each)])) })}\n`);
    replaceFile(file, text, 0o644);
  }
  const reason = await carryOut(env, initSystem, initSystem.start(file, isChanged));
  if (reason !== undefined) return { state: 'failed', file, reason };
  const was = before === undefined ? undefined : originIn(before);
  return { state: 'running', file, was: was === origin ? undefined : was };
}

/** Removes the service and its file. Returns undefined if there is no service file. */
export async function removeService({ env, platform = process.platform }: Machine): Promise<{ file: string; removed: boolean } | undefined> {
  const initSystem = initSystemOf(platform);
  const file = initSystem?.file(env);
  const text = file === undefined ? undefined : textOf(file);
  if (!initSystem || file === undefined || text === undefined) return undefined;
  if (!isOurs(env, file, text)) return { file, removed: false };
  await carryOut(env, initSystem, initSystem.stop(file));
  rmSync(file, { force: true });
  rmSync(recordPath(env), { force: true });
  await carryOut(env, initSystem, initSystem.forget);
  return { file, removed: true };
}

export async function serviceState({ env, platform = process.platform }: Machine): Promise<{ state: ServiceState; origin?: string; restart?: string }> {
  const initSystem = await presentInitSystem(env, platform);
  if (!initSystem) return { state: 'unavailable' };
  const text = textOf(initSystem.file(env));
  if (text === undefined) return { state: 'absent' };
  const origin = originIn(text);
  const state = (await failureOf(env, initSystem, initSystem.isRunning)) === undefined ? 'running' : 'stopped';
  return { state, restart: initSystem.restart, ...(origin === undefined ? {} : { origin }) };
}

/**
 * The variables for the service: where agents store their usage, and whether the watcher updates itself. The service file is world-readable, so it
 * contains no variable that can have a token as its value.
 */
const PASSED_ON = new Set([...ALL_CLIENTS.flatMap(({ folderVariables }) => folderVariables), 'COVIBE_SELF_UPDATE']);

const environmentOf = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries([...PASSED_ON].flatMap((name) => (env[name] ? [[name, env[name]]] : [])));

/** Resolves links in the path of the running program, because a link may be deleted later. */
const ownProgram = (): string[] => (process.argv[1] === undefined ? [] : [realpathSync(process.argv[1])]);

const recordPath = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'service.json');

function isOurs(env: NodeJS.ProcessEnv, file: string, text: string): boolean {
  const written = (readJson(recordPath(env)) ?? {}) as { file?: unknown; sha256?: unknown };
  return written.file === file && Array.isArray(written.sha256) && written.sha256.includes(sha256(text));
}

const originIn = (text: string): string | undefined => /--base-url[^:]*?(https?:[^\s"<]+)/.exec(text)?.[1];

const textOf = (file: string): string | undefined => readText(file, file)?.text;

async function presentInitSystem(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): Promise<InitSystem | undefined> {
  const initSystem = initSystemOf(platform);
  return initSystem && (await failureOf(env, initSystem, initSystem.probe)) === undefined ? initSystem : undefined;
}

async function carryOut(env: NodeJS.ProcessEnv, initSystem: InitSystem, steps: readonly ServiceStep[]): Promise<string | undefined> {
  for (const { args, mayFail } of steps) {
    const failure = await failureOf(env, initSystem, args);
    if (failure !== undefined && !mayFail) return failure;
  }
  return undefined;
}

/** Runs a command of the init system. Returns the error message, or undefined if the command succeeded. */
async function failureOf(env: NodeJS.ProcessEnv, { program }: InitSystem, args: readonly string[]): Promise<string | undefined> {
  try {
    const { code, stderr } = await runProgram(program, args, { cwd: '/', env, timeoutMs: TIMEOUT_MS, maxOutputBytes: 10_000 });
    return code === 0 ? undefined : stderr.trim().split('\n').at(-1) || `${program} ${args.join(' ')} ended with ${code}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
