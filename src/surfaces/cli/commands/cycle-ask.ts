import { join, resolve } from 'node:path';
import { FOLDER, NO_CONFIG, readConfig, withoutPsk } from '../../../features/cycle/contract.ts';
import { fileDisk } from '../../../machine/files.ts';
import { shellQuoted } from '../../../wire/shell-quoted.ts';
import { type AnswerTo, type CalledAction, call } from '../call.ts';
import { CliError, type CommandOptions, type Invocation, option } from '../command.ts';
import { type ActorName, actorNamer, type CycleAnswer, statusLines } from './cycle-text.ts';

export const IN_REPOSITORY = {
  repo: { value: 'PATH', description: 'A folder in the repository.', default: 'the current folder', formerly: 'repository' },
} as const satisfies CommandOptions;

/** The folder for which the server looks up the repository. A part of a repository can also have its own cycles. */
export const pathOf = (invocation: Invocation): string => resolve(invocation.cwd, option(invocation, 'repo') ?? '.');

export const repositoryHere = (invocation: Invocation): { repository_path: string } => ({ repository_path: pathOf(invocation) });

/** Returns a command that a person can paste into a shell. It has the same repository and workspace as the current command. */
export function typedCommand(invocation: Invocation, command: string): string {
  const same = ['repo', 'workspace'].flatMap((name) => {
    const value = option(invocation, name);
    return value === undefined ? [] : [`--${name} ${shellQuoted(value)}`];
  });
  return ['covenant', command, ...same].join(' ');
}

/** Replaces the field names in an error message with the options that the person typed. */
export const wrongOption = ({ code, message }: { code: string; message: string }): CliError =>
  new CliError(
    code,
    message.replace('repository_path:', '--repo:').replace(/\b(feature|mode|reason):/, '--$1:'),
    'Correct that option, then run the command again.',
  );

/** The refusals of the cycle contract recommend a tool, because they are written for agents. A person at a terminal gets these commands instead. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  NO_ACTIVE_CYCLE: ['cycle start --feature checkout'],
  ARCHIVE_NOT_ALLOWED: ['cycle complete', 'cycle cancel --reason TEXT'],
};

export async function askCycle<A extends CalledAction>(invocation: Invocation, name: A, input: object = {}): Promise<AnswerTo<A>> {
  try {
    return await call(invocation, name, input);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.message.startsWith('Invalid input: ')) throw wrongOption(error);
    const commands = COMMANDS[error.code]?.map((command) => typedCommand(invocation, command));
    throw commands ? new CliError(error.code, error.message, commands.join(', or ')) : error;
  }
}

export const showHere = (invocation: Invocation): Promise<CycleAnswer> => askCycle(invocation, 'cycles.show', repositoryHere(invocation));

export async function actorNames(invocation: Invocation): Promise<ActorName> {
  const { items } = await askCycle(invocation, 'developers.list');
  return actorNamer(new Map(items.map(({ developer_id, name }) => [developer_id, name])));
}

/** Returns a note if no role can open a session, because agents cannot work until a person corrects the configuration. */
async function configNote(invocation: Invocation, { repository, config_error }: Pick<CycleAnswer, 'repository' | 'config_error'>): Promise<string> {
  const { wait } = invocation.out.mark;
  if (config_error !== null) return `${wait} ${config_error}\n    next: correct the file`;
  const text = await fileDisk.readText(join(repository, FOLDER, 'config.json')).catch(() => undefined);
  // If this account cannot read the file, the command does not check it. The server reports faults in the file.
  if (text === undefined) return '';
  const read = text === null ? { config: NO_CONFIG } : readConfig(text);
  const missing = 'config' in read ? withoutPsk(read.config) : [];
  if (missing.length === 0) return '';
  const what = text === null ? `${FOLDER}/config.json does not exist` : `${FOLDER}/config.json has no PSK for ${missing.join(', ')}`;
  return `${wait} ${what}, so no role can open a session.\n    next: ${typedCommand(invocation, 'cycle init')}`;
}

export async function statusText(invocation: Invocation, shown: CycleAnswer): Promise<string> {
  const { cycle, repository } = shown;
  const state = cycle
    ? statusLines(shown, cycle, await actorNames(invocation), Date.now())
    : `No cycle is active in ${repository}.\n    next: ${typedCommand(invocation, 'cycle start --feature checkout')}`;
  return [state, await configNote(invocation, shown)].filter(Boolean).join(cycle ? '\n\n' : '\n');
}

/** Returns notes to print after a change: the mirror could not be written, or a role has no PSK. */
export async function afterChange(invocation: Invocation, repository: string, mirrorError: string | undefined): Promise<string[]> {
  const { wait } = invocation.out.mark;
  const behind =
    mirrorError === undefined
      ? []
      : [`${wait} The files in ${repository}/${FOLDER} are out of date: ${mirrorError}. The server updates them when it can write them.`];
  return [...behind, await configNote(invocation, { repository, config_error: null })].filter(Boolean);
}
