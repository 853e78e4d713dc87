import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { configText } from '../../../features/cycle/config-file.ts';
import { FOLDER, NO_CONFIG, readConfig, withoutPsk } from '../../../features/cycle/contract.ts';
import { repositoryOf } from '../../../features/cycle/place.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { createFile, FolderElsewhere, fileDisk, NotAFile } from '../../../machine/files.ts';
import { git } from '../../../machine/git/git.ts';
import { type CliCommand, CliError, type CommandResult, type Invocation } from '../command.ts';
import { IN_REPOSITORY, pathOf, typedCommand, wrongOption } from './cycle-ask.ts';

const FILE = `${FOLDER}/config.json`;
/** Only its owner may read what has PSKs. */
const PRIVATE = 0o600;

interface Initialized {
  readonly created: boolean;
  readonly added: readonly string[];
  readonly roles: readonly string[];
}

export const cycleInit: CliCommand = {
  name: 'cycle init',
  local: true,
  summary: 'Write .mcp-broker/config.json with a random PSK for each role. What is there stays; only PSKs that it lacks are added.',
  options: IN_REPOSITORY,
  async run(invocation) {
    const outside = { files: fileDisk, repositories: loadConfig(invocation.env).machine.repositories };
    const repository = await repositoryOf(outside, pathOf(invocation), { repository: null }).catch((error: unknown) => {
      throw error instanceof Refusal && error.code === 'INVALID_INPUT' ? wrongOption(error) : error;
    });
    const config = join(repository, FILE);
    const tracked = await isTracked(repository);
    const done = await writePsks(repository, config, tracked).catch((error: NodeJS.ErrnoException) => {
      if (error.syscall === undefined && !(error instanceof NotAFile)) throw error;
      throw new CliError('CONFIG_NOT_WRITTEN', `${config} was not written: ${error.message}.`, 'Run it as somebody who may write there.');
    });
    const warnings = await warningsOf(config, tracked);
    const json = { kind: 'cycle_initialized', repository, config, created: done.created, added_psks: done.added, roles: done.roles, warnings };
    return { json, text: initializedText(invocation, config, done, warnings) } satisfies CommandResult;
  },
};

async function writePsks(repository: string, config: string, tracked: boolean): Promise<Initialized> {
  const before = await configText({ files: fileDisk }, repository);
  const { machine, missing } = before === null ? { machine: NO_CONFIG.machine, missing: NO_CONFIG.machine.roles } : lacking(config, before);
  if (missing.length > 0 && tracked) {
    const message = `git tracks ${config}: the PSKs would be committed.`;
    throw new CliError('CONFIG_TRACKED', message, `git rm --cached ${FILE}, commit that, then covenant cycle init again`);
  }
  // Before the PSKs, so that they never lie there unprotected.
  await ignoreAll(repository);
  const done = { created: before === null, added: missing, roles: machine.roles };
  if (missing.length === 0) return done;
  const text = `${JSON.stringify(withPsks(before, missing), null, 2)}\n`;
  if (before !== null) await fileDisk.replaceFile(config, text, PRIVATE);
  // Somebody else has just written one: that one is looked at instead.
  else if (!(await createFile(config, text, PRIVATE))) return await writePsks(repository, config, tracked);
  return done;
}

function lacking(path: string, text: string) {
  const read = readConfig(text);
  if ('config' in read) return { machine: read.config.machine, missing: withoutPsk(read.config) };
  throw new CliError('CONFIG_INVALID', `${path}: ${read.faults.join('; ')}.`, 'Correct the file, then covenant cycle init again. It was left as it is.');
}

/** The file as it is, or the handbook's, with a PSK for each of these roles. */
function withPsks(before: string | null, roles: readonly string[]): object {
  const document = before === null ? { version: '0.1', mode: NO_CONFIG.mode, validation: 'basic', storage_path: FOLDER } : JSON.parse(before);
  const added = Object.fromEntries(roles.map((role) => [role, { psk: randomBytes(32).toString('hex') }]));
  return { ...document, agents: { ...document.agents, ...added } };
}

/** Neither PSKs nor the mirror belong into commits; other rules stay before ours, which is the last and so holds. */
async function ignoreAll(repository: string): Promise<void> {
  let folder: string;
  try {
    folder = await fileDisk.makeFolder(repository, FOLDER);
  } catch (error) {
    if (!(error instanceof FolderElsewhere)) throw error;
    throw new CliError('CONFIG_INVALID', `${error.message}, and nothing is written through a link.`, `Make ${FOLDER} a folder of the repository.`);
  }
  const path = join(folder, '.gitignore');
  const before = (await fileDisk.readText(path)) ?? '';
  if (before.trimEnd().split('\n').at(-1)?.trim() === '*') return;
  await fileDisk.replaceFile(path, `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}*\n`);
}

/** An ignored file that was committed once is committed again and again. False where there is no git. */
async function isTracked(repository: string): Promise<boolean> {
  return await git(repository, ['ls-files', '--', FILE], { reads: true }).then(
    (listed) => listed.trim() !== '',
    () => false,
  );
}

async function warningsOf(config: string, tracked: boolean): Promise<string[]> {
  const open = process.platform !== 'win32' && ((await stat(config)).mode & 0o077) !== 0;
  return [
    ...(tracked ? [`git tracks it, so its PSKs are in commits. Run git rm --cached ${FILE}, commit that, and write other PSKs into it.`] : []),
    ...(open ? [`Others on this machine may read its PSKs. Run chmod 600 ${config}.`] : []),
  ];
}

function initializedText(invocation: Invocation, config: string, { created, added, roles }: Initialized, warnings: readonly string[]): string {
  const { good, wait } = invocation.out.mark;
  const done = created
    ? `Wrote ${config}, with a random PSK for each role: ${added.join(', ')}. Only you can read it, and git ignores it.`
    : added.length > 0
      ? `Added a random PSK for ${added.join(', ')} to ${config}. The rest of it stayed as it was.`
      : `${config} is there, and has a PSK for each role: ${roles.join(', ')}. Nothing was changed.`;
  return [
    `${good} ${done}`,
    ...warnings.map((warning) => `${wait} ${warning}`),
    '',
    'Next',
    `  1. Connect an agent for each role: covenant connect codex --toolsets team+cycle (or ${['claude-code', 'gemini', 'cursor', 'opencode'].join(', ')})`,
    `  2. Tell each agent its role and its PSK; they are in config.json: ${roles.map((role) => `agents.${role}.psk`).join(', ')}`,
    `  3. ${typedCommand(invocation, 'cycle start --feature checkout')}`,
  ].join('\n');
}
