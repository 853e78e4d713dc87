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
  /** Problems that remain although the files were written. */
  readonly findings: readonly SetupFinding[];
  readonly service: ServiceOutcome | undefined;
}

type Mark = CliOutput['mark'];

export const WITHOUT_GIT = 'git was not found; the commit guard and the reports of uncommitted work need it';

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
    'next: restart your agents, then run covibe-local doctor',
  ].join('\n');
}

function identityLines({ by, approved_by, stored }: Identity, agents: number, { good }: Mark): string[] {
  if (approved_by !== undefined) return [`${good} server ready`, `${good} approved by ${approved_by}, ${counted(stored.length, 'token')} stored (0600)`];
  return [`${good} server ready  ${good} ${by === 'environment' ? 'token accepted (COVIBE_MCP_TOKEN)' : `${counted(agents, 'token')} accepted`}`];
}

function updateKeyLines(key: UpdateKey | null, mark: Mark): string[] {
  if (key?.isNew) return [`${mark.good} update key pinned: ${key.pinned}\n    compare it with the fingerprint from the publisher of the releases`];
  if (!key?.other) return [];
  return [
    `${mark.wait} the server announces a different update key, ${key.other}; the pinned key ${key.pinned} stays\n    next: ask the publisher of the releases; to trust the new key, run covibe-local setup --update-key ${key.other}`,
  ];
}

function outcomeLine({ client, files }: SetupOutcome, width: number, mark: Mark): string {
  const shown = files.map((file) => `${file.shown}${asideOf(file)}`).join(', ');
  const isSame = files.every(({ change }) => change === 'unchanged');
  return `${mark.good} ${client.padEnd(width)}  ${shown}${isSame ? ', unchanged' : ''}`;
}

function asideOf({ kept, setBack }: FileOutcome): string {
  const said = [...(kept ? [kept] : []), ...(setBack.length > 0 ? [`changed by hand and restored: ${setBack.join(', ')}`] : [])];
  return said.length > 0 ? ` (${said.join('; ')})` : '';
}

function serviceLines(service: ServiceOutcome | undefined, origin: string, env: NodeJS.ProcessEnv, mark: Mark): string[] {
  const byHand = `To send usage counters, run: ${watchCommand(origin)}`;
  switch (service?.state) {
    case undefined:
      return [`${mark.quiet} no watch service (--no-service)\n    ${byHand}`];
    case 'unavailable':
      return [`${mark.quiet} no watch service: neither systemd nor launchd is available here\n    ${byHand}`];
    case 'changed by hand':
      return [`${mark.wait} watch service not updated: ${service.file} was changed by hand\n    next: keep it, or move it away and run setup again`];
    case 'failed':
      return [`${mark.wait} watch service installed but not running: ${service.reason}\n    ${byHand}`];
    case 'running': {
      const hasToken = Object.keys(tokensFrom(env, origin)).length > 0;
      return [
        `${mark.good} watch service running${service.was === undefined ? '' : `, now reporting to ${origin} instead of ${service.was}`}`,
        ...(hasToken
          ? []
          : [
              `${mark.wait} the service has no token, because setup does not store COVIBE_MCP_TOKEN\n    next: unset it and run setup again, so that tokens are stored`,
            ]),
      ];
    }
  }
}

function missingLines({ by }: Identity, env: NodeJS.ProcessEnv, mark: Mark): string[] {
  return [
    ...(by === 'environment' ? [`${mark.wait} start your agents where COVIBE_MCP_TOKEN is set, because setup does not write it to a file`] : []),
    ...(hasProgram('git', env) ? [] : [`${mark.wait} ${WITHOUT_GIT}\n    next: install git`]),
  ];
}
