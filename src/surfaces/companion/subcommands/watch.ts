import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError, type CommandResult, onStopSignal, option, UsageError } from '../../cli/command.ts';
import { type CliOutput, counted } from '../../cli/output.ts';
import { BASE_URL, type CompanionCommand, originOf } from '../command.ts';
import { HANDOVER, runCurrent } from '../update/launch.ts';
import { createUpdater } from '../update/updater.ts';
import { INBOX } from '../usage-readers/inbox.ts';
import type { LeftFile } from '../watch/inboxes.ts';
import { MachineWatcher } from '../watch/loop.ts';
import { syncUsage } from '../watch/sync.ts';
import { MISSING_TOKEN_PROBLEM, tokensFor } from '../watch/tokens.ts';

const INTERVAL_SECONDS = 30;

export const watchCommand: CompanionCommand = {
  name: 'watch',
  summary: "Report this machine's model usage until you stop the command.",
  description:
    'Sends token counts and the state of repositories: numbers, never prompts or code. Stop it with Ctrl-C. The service that `covibe-local setup` installs runs this command.',
  options: {
    ...BASE_URL,
    interval: { value: 'SECONDS', description: 'The time between two reports, from 1 to 86400.', default: INTERVAL_SECONDS },
    since: {
      value: 'TIME',
      description: 'Also report earlier usage, since this date or for this time span: 2026-01-31, 12h or 7d.',
      default: 'the first start on this machine',
    },
    once: { description: 'Report once, then exit.' },
    'self-update': { description: 'Install the releases that the server offers. COVIBE_SELF_UPDATE=1 does the same.' },
  },
  examples: ['watch', 'watch --once --since 7d'],
  local: true,
  async run(invocation) {
    const { env, out, values } = invocation;
    const origin = originOf(invocation);
    const intervalMs = secondsFrom(option(invocation, 'interval')) * 1000;
    const since = momentFrom(option(invocation, 'since'), Date.now());
    const enabled = values['self-update'] === true || env.COVIBE_SELF_UPDATE === '1';
    const ending = new AbortController();
    onStopSignal(() => ending.abort());
    const updater = createUpdater({ env, origin, enabled, out });
    const watcher = new MachineWatcher({ env, origin, intervalMs, since, out, signal: ending.signal, updater });
    if (values.once === true) {
      await watcher.tick();
      return onceOver(watcher);
    }
    const here = () => {
      out.note(`Reporting model usage to ${origin}. Stop with Ctrl-C.`);
      return watcher.run();
    };
    const end = enabled ? await runCurrent({ env, argv: process.argv.slice(2), signal: ending.signal, updater, here }) : await here();
    if (end === 'failed')
      throw new CliError(
        'RELEASE_FAILED',
        'The installed release has stopped.',
        'Run `covibe-local watch` again. A release that ends within 30 seconds is replaced by the installed program.',
      );
    // This exit code tells the parent process, which started this release, to start the new release.
    if (end === 'handover') process.exit(HANDOVER);
    return undefined;
  },
};

function onceOver(watcher: MachineWatcher): CommandResult {
  const { sent, waiting, problem } = watcher.status;
  const text = problem === null ? `${counted(sent, 'usage event')} sent in total` : `${problem}; ${counted(waiting, 'usage event')} waiting`;
  return { json: { kind: 'watch', sent, waiting, problem }, text, exit: problem === null ? 0 : 1 };
}

export const telemetryCommand: CompanionCommand = {
  name: 'telemetry',
  summary: 'Send the usage files of an inbox to the server.',
  description: 'Also sends the reports that an earlier call could not deliver.',
  options: { ...BASE_URL, inbox: { value: 'FOLDER', description: 'The folder with the usage files.', default: INBOX } },
  examples: ['telemetry', 'telemetry --inbox .covibe/telemetry'],
  local: true,
  async run(invocation) {
    const { env, cwd, out } = invocation;
    const origin = originOf(invocation);
    const folder = resolve(cwd, option(invocation, 'inbox') ?? INBOX);
    if (tokensFor(env, origin).machine === undefined)
      throw new CliError(
        'NO_TOKEN',
        `This machine has ${MISSING_TOKEN_PROBLEM.split(':')[0]}. Nothing was sent.`,
        'Run `covibe-local setup`, or set COVIBE_MCP_TOKEN.',
      );
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw new CliError('NO_INBOX', `The folder ${folder} does not exist. Nothing was sent.`, 'Pass the folder that contains the usage files: --inbox FOLDER');
    const { sent, waiting, rejected, left, problem, heldBy, unread } = await syncUsage(env, { origin, inboxes: [folder] });
    if (heldBy !== undefined)
      throw new CliError('BUSY', `Process ${heldBy} is reporting usage right now. Nothing was sent.`, 'Run this again in a few seconds.');
    const json = { kind: 'telemetry', sent, waiting, rejected, left, problem: problem ?? null };
    if (problem !== undefined) return { json, text: `${out.mark.wait} ${problem}; ${counted(waiting, 'usage event')} waiting, to be sent later`, exit: 1 };
    const spoiled = rejected > 0 ? [`${out.mark.wait} ${counted(rejected, 'file')} rejected: see rejected/`] : [];
    const later = unread.map((reason) => `${out.mark.wait} ${reason}`);
    const text = [`${out.mark.good} ${counted(sent, 'usage event')} sent`, ...spoiled, ...later, ...leftLines(left, out)].join('\n');
    return { json, text, exit: left.length === 0 ? 0 : 1 };
  },
};

const MAX_NAMED = 10;

/** Lists only the first files, because a wrong folder may contain any number of files. */
function leftLines(left: readonly LeftFile[], { mark }: CliOutput): string[] {
  const named = left.slice(0, MAX_NAMED).map(({ file, reason }) => `${mark.bad} ${file} contains no usage and was not moved: ${reason}`);
  return left.length > MAX_NAMED ? [...named, `${mark.bad} and ${counted(left.length - MAX_NAMED, 'file')} more`] : named;
}

function secondsFrom(text: string | undefined): number {
  const seconds = text === undefined ? INTERVAL_SECONDS : Number(text);
  if (Number.isFinite(seconds) && seconds >= 1 && seconds <= 86_400) return seconds;
  throw new UsageError('`--interval` must be a number of seconds from 1 to 86400, for example --interval 60');
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/** Parses a date, or a time span such as `12h` or `7d` that ends now. Returns the time in milliseconds since 1970. */
function momentFrom(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  // Only ISO dates are accepted, because `5` would parse as May 2001 and send years of history.
  const date = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text) ? Date.parse(text) : Number.NaN;
  const moment = count === undefined ? date : now - Number(count) * (UNITS[unit] ?? 0);
  if (Number.isFinite(moment) && moment <= now) return moment;
  throw new UsageError('`--since` must be a past date or a time span, for example --since 2026-01-31, --since 12h or --since 7d');
}
