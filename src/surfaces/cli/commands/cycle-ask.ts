import { join } from 'node:path';
import type { listDevelopers } from '../../../features/core/identity/contract.ts';
import {
  type cyclesArchive,
  type cyclesCancel,
  type cyclesCloseSession,
  type cyclesComplete,
  type cyclesList,
  type cyclesSessions,
  type cyclesShow,
  type cyclesStart,
  FOLDER,
  NO_CONFIG,
  readConfig,
  withoutPsk,
} from '../../../features/cycle/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { fileDisk } from '../../../machine/files.ts';
import { asking, CliError, type Invocation } from '../command.ts';
import { here, typed, wrongOption } from './cycle-place.ts';
import { type CycleAnswer, statusLines, type Who, whoIs } from './cycle-text.ts';

/** What the server answers, by its own contract. */
interface Answers {
  'cycles.list': Output<typeof cyclesList>;
  'cycles.show': Output<typeof cyclesShow>;
  'cycles.start': Output<typeof cyclesStart>;
  'cycles.complete': Output<typeof cyclesComplete>;
  'cycles.archive': Output<typeof cyclesArchive>;
  'cycles.cancel': Output<typeof cyclesCancel>;
  'cycles.sessions': Output<typeof cyclesSessions>;
  'cycles.close_session': Output<typeof cyclesCloseSession>;
  'developers.list': Output<typeof listDevelopers>;
}

/** The contract tells agents which tool comes next; a person at a terminal is told the command. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  NO_ACTIVE_CYCLE: ['cycle start --feature checkout'],
  ARCHIVE_NOT_ALLOWED: ['cycle complete', 'cycle cancel --reason TEXT'],
};

const action = asking<Answers>();

export async function ask<N extends keyof Answers>(invocation: Invocation, name: N, input: Record<string, unknown> = {}): Promise<Answers[N]> {
  try {
    return await action(invocation, name, input);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.message.startsWith('Invalid input: ')) throw wrongOption(error);
    const commands = COMMANDS[error.code]?.map((command) => typed(invocation, command));
    throw commands ? new CliError(error.code, error.message, commands.join(', or ')) : error;
  }
}

export const showHere = (invocation: Invocation): Promise<CycleAnswer> => ask(invocation, 'cycles.show', here(invocation));

export async function actorNames(invocation: Invocation): Promise<Who> {
  const { items } = await ask(invocation, 'developers.list');
  return whoIs(new Map(items.map(({ developer_id, name }) => [developer_id, name])));
}

/** Where nobody could open a session, the next step is not the agents'. */
async function configNote(invocation: Invocation, { repository, config_error }: Pick<CycleAnswer, 'repository' | 'config_error'>): Promise<string> {
  const { wait } = invocation.out.mark;
  if (config_error !== null) return `${wait} ${config_error}\n    next: Correct the file.`;
  const text = await fileDisk.readText(join(repository, FOLDER, 'config.json')).catch(() => undefined);
  // Not ours to read: the server says what is wrong when it is asked.
  if (text === undefined) return '';
  const read = text === null ? { config: NO_CONFIG } : readConfig(text);
  const missing = 'config' in read ? withoutPsk(read.config) : [];
  if (missing.length === 0) return '';
  const what = text === null ? `There is no ${FOLDER}/config.json` : `${FOLDER}/config.json has no PSK for ${missing.join(', ')}`;
  return `${wait} ${what}, so no role can open a session.\n    next: ${typed(invocation, 'cycle init')}`;
}

export async function statusText(invocation: Invocation, shown: CycleAnswer): Promise<string> {
  const { cycle, repository } = shown;
  const state = cycle
    ? statusLines(shown, cycle, await actorNames(invocation), Date.now())
    : `No cycle is active in ${repository}.\n    next: ${typed(invocation, 'cycle start --feature checkout')}`;
  return [state, await configNote(invocation, shown)].filter(Boolean).join(cycle ? '\n\n' : '\n');
}

/** What else a person should know of a change that was made. */
export async function afterChange(invocation: Invocation, repository: string, mirrorError: string | undefined): Promise<string[]> {
  const { wait } = invocation.out.mark;
  const behind =
    mirrorError === undefined ? [] : [`${wait} The files in ${repository}/${FOLDER} are behind: ${mirrorError}. They follow once they can be written.`];
  return [...behind, await configNote(invocation, { repository, config_error: null })].filter(Boolean);
}
