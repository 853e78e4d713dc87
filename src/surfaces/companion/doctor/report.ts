import { environmentToken } from '../../../wire/credentials.ts';
import { type BareInvocation, type CommandResult, option } from '../../cli/command.ts';
import type { CliOutput } from '../../cli/output.ts';
import { originOf, requireRepository } from '../command.ts';
import { installedClients } from '../files.ts';
import { serverState } from '../server-state.ts';
import { type SetUp, setUpAround } from '../setup/setups.ts';
import { runSetupCheck, type SetupCheck, type SetupCheckContext } from './check.ts';
import { fileChecks, guardChecks, NOT_SET_UP, programChecks, serverCheck, tokenChecks, watchCheck } from './checks.ts';

export async function report(invocation: BareInvocation): Promise<CommandResult> {
  const { root } = requireRepository(invocation.cwd);
  const known = setUpAround(invocation.env, root);
  const setup: SetUp = {
    root,
    origin: known && option(invocation, 'base-url') === undefined ? known.origin : originOf(invocation),
    hooks: known?.hooks ?? 'command',
    clients: known?.clients ?? installedClients(invocation.env),
  };
  const checked: SetupCheckContext = { env: invocation.env, setup, server: await serverState(setup.origin), now: Date.now() };
  const files = await runSetupCheck('files', () => fileChecks(checked));
  const isSetUp = !files.some(({ check }) => check === NOT_SET_UP);
  const checks = [
    serverCheck(checked),
    // Without a setup nobody needs a stored token: that one is missing is no second failure.
    ...(isSetUp || environmentToken(invocation.env) !== undefined ? await runSetupCheck('tokens', () => tokenChecks(checked)) : []),
    ...(await runSetupCheck('watch', async () => [await watchCheck(checked)])),
    ...files,
    ...(await runSetupCheck('guard', () => guardChecks(checked))),
    ...(await runSetupCheck('bridge', () => programChecks(checked))),
  ];
  const failures = checks.filter(({ state }) => state === 'failed').length;
  return {
    json: { kind: 'doctor_report', origin: setup.origin, root, failed: failures, items: checks },
    text: doctorText(checks, invocation.out),
    exit: failures > 0 ? 1 : 0,
  };
}

/** What is well about machine and server goes on one line; the rest has lines of its own. */
function doctorText(checks: readonly SetupCheck[], { mark }: CliOutput): string {
  const marks = { ok: mark.good, failed: mark.bad, open: mark.quiet } as const;
  const line = ({ state, message, fix }: SetupCheck) => `${marks[state]} ${message}${fix === undefined ? '' : `\n    fix: ${fix}`}`;
  const isShort = ({ check, state }: SetupCheck) => state === 'ok' && ['server', 'tokens', 'watch'].includes(check);
  const short = checks.filter(isShort).map(line).join('  ');
  return [...(short === '' ? [] : [short]), ...checks.filter((check) => !isShort(check)).map(line)].join('\n');
}
