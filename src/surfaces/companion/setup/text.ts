import { watchCommand } from '../../../features/core/devices/connections.ts';
import { hasProgram } from '../../../machine/process/find-program.ts';
import { tokensFrom } from '../../../wire/credentials.ts';
import { type CliOutput, counted } from '../../cli/output.ts';
import type { FileOutcome, SetupFinding, SetupOutcome } from '../files.ts';
import type { ServiceOutcome } from '../service/service.ts';
import type { UpdateKey } from '../update/pinned-key.ts';
import type { DeviceCode } from './device-flow.ts';
import type { Identity } from './tokens.ts';

interface SetupReport {
  readonly origin: string;
  readonly identity: Identity;
  readonly update_key: UpdateKey | null;
  readonly outcomes: readonly SetupOutcome[];
  /** What is not as it should be although it has been written. */
  readonly findings: readonly SetupFinding[];
  readonly service: ServiceOutcome | undefined;
}

type Mark = CliOutput['mark'];

export const WITHOUT_GIT = 'git was not found: the commit guard and snapshots of work need it';

export const codeLine = ({ code, uri }: DeviceCode): string => `Code ${code}  approve at ${uri}`;

export function setupText(report: SetupReport, env: NodeJS.ProcessEnv, { mark }: CliOutput): string {
  const { origin, identity, update_key, outcomes, findings, service } = report;
  const width = Math.max(...outcomes.map(({ client }) => client.length));
  return [
    ...identityLines(identity, outcomes.length, mark),
    ...updateKeyLines(update_key, mark),
    ...outcomes.map((outcome) => outcomeLine(outcome, width, mark)),
    ...[...new Set(outcomes.flatMap(({ notes }) => notes))].map((note) => `    ${note}`),
    ...findings.map(({ client, what, state, fix }) => `${mark.bad} ${client}: ${what} ${state}\n    fix: ${fix}`),
    ...serviceLines(service, origin, env, mark),
    ...missingLines(identity, env, mark),
    'next: restart your agents, then covibe-local doctor',
  ].join('\n');
}

function identityLines({ by, approved_by, stored }: Identity, agents: number, { good }: Mark): string[] {
  if (approved_by !== undefined) return [`${good} server ready`, `${good} approved by ${approved_by}, ${counted(stored.length, 'token')} stored (0600)`];
  return [`${good} server ready  ${good} ${by === 'environment' ? 'token accepted (COVIBE_MCP_TOKEN)' : `${counted(agents, 'token')} accepted`}`];
}

function updateKeyLines(key: UpdateKey | null, mark: Mark): string[] {
  if (key?.isNew) return [`${mark.good} key for updates pinned: ${key.pinned}\n    compare it with the one that whoever publishes releases has`];
  if (!key?.other) return [];
  return [
    `${mark.wait} the server names another key for updates now, ${key.other}; the pinned one stays, ${key.pinned}\n    next: ask whoever publishes releases; to trust the new key, run setup with --update-key ${key.other}`,
  ];
}

function outcomeLine({ client, files }: SetupOutcome, width: number, mark: Mark): string {
  const shown = files.map((file) => `${file.shown}${asideOf(file)}`).join(', ');
  const isSame = files.every(({ change }) => change === 'unchanged');
  return `${mark.good} ${client.padEnd(width)}  ${shown}${isSame ? ', as before' : ''}`;
}

function asideOf({ kept, setBack }: FileOutcome): string {
  const said = [...(kept ? [kept] : []), ...(setBack.length > 0 ? [`changed by hand and set back: ${setBack.join(', ')}`] : [])];
  return said.length > 0 ? ` (${said.join('; ')})` : '';
}

function serviceLines(service: ServiceOutcome | undefined, origin: string, env: NodeJS.ProcessEnv, mark: Mark): string[] {
  const byHand = `To send usage counters, run: ${watchCommand(origin)}`;
  switch (service?.state) {
    case undefined:
      return [`${mark.quiet} no watch service (--no-service)\n    ${byHand}`];
    case 'unavailable':
      return [`${mark.quiet} no watch service: neither systemd nor launchd answers here\n    ${byHand}`];
    case 'changed by hand':
      return [`${mark.wait} watch service left as it is: ${service.file} was changed by hand\n    next: move it away and run setup again, or keep it`];
    case 'failed':
      return [`${mark.wait} watch service written, but not running: ${service.reason}\n    ${byHand}`];
    case 'running': {
      const hasToken = Object.keys(tokensFrom(env, origin)).length > 0;
      return [
        `${mark.good} watch service running${service.was === undefined ? '' : `, now for ${origin} instead of ${service.was}`}`,
        ...(hasToken ? [] : [`${mark.wait} it has no token: COVIBE_MCP_TOKEN is written nowhere\n    next: run setup without it, to have tokens stored`]),
      ];
    }
  }
}

/** What setup cannot put in place itself. */
function missingLines({ by }: Identity, env: NodeJS.ProcessEnv, mark: Mark): string[] {
  return [
    ...(by === 'environment' ? [`${mark.wait} start your agents where COVIBE_MCP_TOKEN is set: it is written into no file`] : []),
    ...(hasProgram('git', env) ? [] : [`${mark.wait} ${WITHOUT_GIT}\n    next: install git`]),
  ];
}
