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
/** The file contains PSKs, so only its owner may read it. */
const PRIVATE = 0o600;

interface Initialized {
  readonly created: boolean;
  readonly added: readonly string[];
  readonly roles: readonly string[];
}

export const cycleInit: CliCommand = {
  name: 'cycle init',
  local: true,
  summary: 'Write .mcp-broker/config.json with a random PSK for each role.',
  description: 'An existing file keeps its contents. Only missing PSKs are added.',
  options: IN_REPOSITORY,
  examples: ['cycle init', 'cycle init --repo ~/src/shop'],
  async run(invocation) {
    const outside = { files: fileDisk, repositories: loadConfig(invocation.env).machine.repositories };
    const repository = await repositoryOf(outside, pathOf(invocation), { repository: null }).catch((error: unknown) => {
      throw error instanceof Refusal && error.code === 'INVALID_INPUT' ? wrongOption(error) : error;
    });
    const config = join(repository, FILE);
    const tracked = await isTracked(repository);
    const done = await writePsks(repository, config, tracked).catch((error: NodeJS.ErrnoException) => {
      if (error.syscall === undefined && !(error instanceof NotAFile)) throw error;
      throw new CliError(
        'CONFIG_NOT_WRITTEN',
        `${config} was not written: ${error.message}.`,
        `Make ${repository} writable for this account, then run: ${typedCommand(invocation, 'cycle init')}`,
      );
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
    const message = `git tracks ${config}, so the PSKs would be committed.`;
    throw new CliError('CONFIG_TRACKED', message, `git rm --cached ${FILE}, commit, then run covenant cycle init`);
  }
  // Writes .gitignore before the PSKs, so that `git add` never adds the PSKs.
  await ignoreAll(repository);
  const done = { created: before === null, added: missing, roles: machine.roles };
  if (missing.length === 0) return done;
  const text = `${JSON.stringify(withPsks(before, missing), null, 2)}\n`;
  if (before !== null) await fileDisk.replaceFile(config, text, PRIVATE);
  // If another process created the file in the meantime, reads it again and adds only what is missing.
  else if (!(await createFile(config, text, PRIVATE))) return await writePsks(repository, config, tracked);
  return done;
}

function lacking(path: string, text: string) {
  const read = readConfig(text);
  if ('config' in read) return { machine: read.config.machine, missing: withoutPsk(read.config) };
  throw new CliError('CONFIG_INVALID', `${path}: ${read.faults.join('; ')}.`, 'Correct the file, then run covenant cycle init. Nothing was changed.');
}

/** Returns the content of the existing file, or of a new file, with a PSK for each of these roles. */
function withPsks(before: string | null, roles: readonly string[]): object {
  const document = before === null ? { version: '0.1', mode: NO_CONFIG.mode, validation: 'basic', storage_path: FOLDER } : JSON.parse(before);
  const added = Object.fromEntries(roles.map((role) => [role, { psk: randomBytes(32).toString('hex') }]));
  return { ...document, agents: { ...document.agents, ...added } };
}

/** Makes git ignore the PSKs and the mirror. Our rule is the last line of .gitignore, so that it overrides earlier rules. */
async function ignoreAll(repository: string): Promise<void> {
  let folder: string;
  try {
    folder = await fileDisk.makeFolder(repository, FOLDER);
  } catch (error) {
    if (!(error instanceof FolderElsewhere)) throw error;
    throw new CliError('CONFIG_INVALID', `${error.message}. Covenant never writes through a link.`, `Make ${FOLDER} a folder of the repository.`);
  }
  const path = join(folder, '.gitignore');
  const before = (await fileDisk.readText(path)) ?? '';
  if (before.trimEnd().split('\n').at(-1)?.trim() === '*') return;
  await fileDisk.replaceFile(path, `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}*\n`);
}

/** Whether git tracks the file. Git commits changes of a tracked file even if the file is ignored. */
async function isTracked(repository: string): Promise<boolean> {
  return await git(repository, ['ls-files', '--', FILE], { reads: true }).then(
    (listed) => listed.trim() !== '',
    () => false,
  );
}

async function warningsOf(config: string, tracked: boolean): Promise<string[]> {
  const open = process.platform !== 'win32' && ((await stat(config)).mode & 0o077) !== 0;
  return [
    ...(tracked ? [`git tracks the file, so its PSKs are in commits. Run git rm --cached ${FILE}, commit, and replace the PSKs.`] : []),
    ...(open ? [`Other accounts on this machine can read the PSKs in the file. Run chmod 600 ${config}.`] : []),
  ];
}

function initializedText(invocation: Invocation, config: string, { created, added, roles }: Initialized, warnings: readonly string[]): string {
  const { good, wait } = invocation.out.mark;
  const done = created
    ? `Wrote ${config}, with a random PSK for each role: ${added.join(', ')}. Only you can read it, and git ignores it.`
    : added.length > 0
      ? `Added a random PSK for ${added.join(', ')} to ${config}. The rest of the file is unchanged.`
      : `${config} already has a PSK for each role: ${roles.join(', ')}. Nothing was changed.`;
  return [
    `${good} ${done}`,
    ...warnings.map((warning) => `${wait} ${warning}`),
    '',
    'Next',
    `  1. Connect an agent for each role: covenant connect codex --toolsets team+cycle (or ${['claude-code', 'gemini', 'cursor', 'opencode'].join(', ')})`,
    `  2. Give each agent its role and its PSK from config.json: ${roles.map((role) => `agents.${role}.psk`).join(', ')}`,
    `  3. ${typedCommand(invocation, 'cycle start --feature checkout')}`,
  ].join('\n');
}
