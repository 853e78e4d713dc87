import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS, HTTP_HOOK_PROGRAMS } from '../../clients/index.ts';
import { watchCommand } from '../../features/core/devices/connections.ts';
import { hasProgram } from '../../machine/process/find-program.ts';
import { credentialsPath, environmentToken, isOpenToOthers, storedOrigin, tokensFrom } from '../../wire/credentials.ts';
import { shellQuoted } from '../../wire/shell-quoted.ts';
import { type BareInvocation, CliError, type CommandResult, option } from '../cli/command.ts';
import { age, type CliOutput, counted } from '../cli/output.ts';
import { originOf, requireRepository } from './command.ts';
import { installedClients, programsFor } from './desired-files.ts';
import { inspectSetup, setupCommand } from './files.ts';
import { GUARDED, hooksFolder } from './guard/install.ts';
import { scriptState } from './guard/script.ts';
import { type ServerProbe, serverState, tokenState } from './server.ts';
import { serviceState } from './service/service.ts';
import { WITHOUT_GIT } from './setup/text.ts';
import { askAboutTokens } from './setup/tokens.ts';
import { readWatchStatus, type SetUp, setUpAround } from './state.ts';

/** The result of one check. The state `open` means a note for the person: nothing in the setup itself is wrong. */
export interface SetupCheck {
  readonly check: string;
  readonly state: 'ok' | 'failed' | 'open';
  readonly message: string;
  readonly fix?: string;
}

interface SetupCheckContext {
  readonly env: NodeJS.ProcessEnv;
  readonly setup: SetUp;
  readonly server: ServerProbe;
  readonly now: number;
}

const NOT_SET_UP = 'setup';

export async function reportSetup(invocation: BareInvocation): Promise<CommandResult> {
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
    // If nothing is set up here, no stored token is needed, so a missing token is not reported as a second failure.
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

/** The checks of the server, the tokens and the watcher share one line if they passed. Every other check has its own line. */
function doctorText(checks: readonly SetupCheck[], { mark }: CliOutput): string {
  const marks = { ok: mark.good, failed: mark.bad, open: mark.quiet } as const;
  const line = ({ state, message, fix }: SetupCheck) => `${marks[state]} ${message}${fix === undefined ? '' : `\n    fix: ${fix}`}`;
  const isShort = ({ check, state }: SetupCheck) => state === 'ok' && ['server', 'tokens', 'watch'].includes(check);
  const short = checks.filter(isShort).map(line).join('  ');
  return [...(short === '' ? [] : [short]), ...checks.filter((check) => !isShort(check)).map(line)].join('\n');
}

const ok = (check: string, message: string): SetupCheck => ({ check, state: 'ok', message });
const open = (check: string, message: string): SetupCheck => ({ check, state: 'open', message });
const failed = (check: string, message: string, fix: string): SetupCheck => ({ check, state: 'failed', message, fix });

/** Runs a check. If the check throws an error, it is reported as failed, so that the other checks still run. */
export async function runSetupCheck(check: string, look: () => readonly SetupCheck[] | Promise<readonly SetupCheck[]>): Promise<readonly SetupCheck[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof CliError) return [failed(check, error.message.replace(' Nothing was changed.', ''), error.next)];
    const { path, code, name } = error as NodeJS.ErrnoException;
    const where = path === undefined ? '' : `: ${path} cannot be read`;
    return [failed(check, `the ${check} check failed${where} (${code ?? name})`, 'make the file readable or move it away, then run covibe-local doctor')];
  }
}

function serverCheck({ setup: { origin }, server }: SetupCheckContext): SetupCheck {
  if (server.state === 'ready') return ok('server', `server ${server.ms} ms`);
  if (server.state === 'unreachable') return open('server', `server ${origin} is not reachable (${server.reason}); start it with covenant up`);
  return server.state === 'failing'
    ? failed('server', `server ${origin} is not healthy`, 'on its machine, run covenant doctor')
    : failed('server', `${origin} is not a Covenant server`, 'covibe-local setup --base-url ORIGIN, where ORIGIN is the address of your Covenant server');
}

/** Checks whether this server accepts the agents' tokens. If the server is not ready, only the checks that do not need the server run. */
async function tokenChecks({ env, setup, server }: SetupCheckContext): Promise<SetupCheck[]> {
  const token = environmentToken(env);
  const isReady = server.state === 'ready';
  const checks = token === undefined ? await storedTokenChecks(env, setup, isReady) : isReady ? await environmentTokenChecks(setup, token) : [];
  return isReady ? checks : [...checks, open('tokens', 'tokens not checked: the server is not ready')];
}

const usesHttpHooks = ({ hooks, clients }: SetUp): boolean => hooks === 'http' && clients.some((client) => CLIENTS[client].hooks.overHttp);

async function environmentTokenChecks(setup: SetUp, token: string): Promise<SetupCheck[]> {
  const said = await tokenState(setup.origin, token);
  if (said.state === 'unreachable') return [open('tokens', `token not checked (${said.reason})`)];
  if (said.state === 'refused')
    return [failed('tokens', `${setup.origin} does not accept COVIBE_MCP_TOKEN`, `set it to a valid token, or unset it and run ${setupCommand(setup)}`)];
  const accepted = ok('tokens', 'token accepted (COVIBE_MCP_TOKEN)');
  if (!usesHttpHooks(setup) || !said.failClosed) return [accepted];
  const message = 'hooks.fail_closed is on in this workspace, and HTTP hooks cannot block edits while the server is unreachable';
  return [accepted, failed('hooks', message, `${setupCommand(setup)} --hooks command`)];
}

async function storedTokenChecks(env: NodeJS.ProcessEnv, setup: SetUp, isReady: boolean): Promise<SetupCheck[]> {
  const fix = setupCommand(setup);
  const unread = `the HTTP hooks of ${HTTP_HOOK_PROGRAMS} need COVIBE_MCP_TOKEN, which is not set in this shell`;
  const hooks = usesHttpHooks(setup) ? [failed('hooks', unread, `set it where your agents start, or run ${fix} --hooks command`)] : [];
  const of = storedOrigin(env);
  const stored = tokensFrom(env, setup.origin);
  if (of !== undefined && of !== setup.origin && Object.keys(stored).length === 0)
    return [...hooks, failed('tokens', `the stored tokens belong to another server: ${of}`, fix)];
  const missing = setup.clients.filter((client) => stored[client] === undefined);
  const asked = isReady ? await askAboutTokens(env, setup.origin, setup.clients) : [];
  const inState = (state: string) => asked.filter((each) => each.state?.state === state).map(({ client }) => client);
  const [accepted, refused] = [inState('accepted'), inState('refused')];
  return [
    ...hooks,
    ...(accepted.length > 0 ? [ok('tokens', counted(accepted.length, 'token'))] : []),
    ...(refused.length > 0 ? [failed('tokens', `${setup.origin} rejects the token of ${refused.join(', ')}`, fix)] : []),
    ...(missing.length > 0 ? [failed('tokens', `no token is stored for ${missing.join(', ')}`, fix)] : []),
    ...asked.flatMap(({ client, state }) => (state?.state === 'unreachable' ? [open('tokens', `token of ${client} not checked (${state.reason})`)] : [])),
    ...privacyCheck(env),
  ];
}

function privacyCheck(env: NodeJS.ProcessEnv): SetupCheck[] {
  const file = credentialsPath(env);
  return isOpenToOthers(env) ? [failed('credentials', `${file} is readable by other users`, `chmod 600 ${shellQuoted(file)}`)] : [];
}

/** If the watcher's last successful sync is older than this, the watcher counts as silent. By default it syncs every 30 seconds. */
const SILENT_AFTER_MS = 10 * 60_000;

async function watchCheck({ env, setup, now }: SetupCheckContext): Promise<SetupCheck> {
  const { origin: of, ...status } = readWatchStatus(env);
  const isForThis = of === setup.origin;
  const { last_sync_at = null, problem = null } = isForThis ? status : {};
  const isFresh = isRecent(last_sync_at, now);
  const service = await serviceState({ env });
  if (service.state === 'stopped' && !isFresh) return failed('watch', 'the watch service is not running', service.restart ?? watchCommand(setup.origin));
  if (service.origin !== undefined && service.origin !== setup.origin)
    return open('watch', `the watch service on this machine reports to ${service.origin}; to change that, run ${setupCommand(setup)}`);
  if (of !== undefined && !isForThis && isRecent(status.last_sync_at, now))
    return open('watch', `watch reports to ${of}; to report to ${setup.origin}, run ${watchCommand(setup.origin)}`);
  if (problem !== null) return open('watch', `watch: ${problem}`);
  const synced = last_sync_at === null ? 'has not synced yet' : `synced ${age(last_sync_at, now)} ago`;
  if (isFresh) return ok('watch', `watch ${synced}`);
  if (service.state === 'running') return open('watch', `watch ${synced}`);
  return open('watch', `watch is not running; start it with ${watchCommand(setup.origin)}`);
}

const isRecent = (at: number | null | undefined, now: number): boolean => at != null && now - at < SILENT_AFTER_MS;

/** Checks the files that setup wrote. If all files of an agent are correct, they share one line. */
function fileChecks({ env, setup, now }: SetupCheckContext): SetupCheck[] {
  const findings = inspectSetup({ env, ...setup, now });
  if (findings.every(({ state, scope }) => state === 'missing' || scope === 'machine'))
    return [failed(NOT_SET_UP, 'the agents of this repository are not set up', setupCommand({ ...setup, clients: [] }))];
  const width = Math.max(...setup.clients.map((client) => client.length));
  return setup.clients.flatMap((client) => {
    const own = findings.filter((finding) => finding.client === client);
    const wrong = own.filter(({ state }) => state !== 'good');
    if (wrong.length > 0) return wrong.map(({ what, state, shown, fix }) => failed(client, `${client}: ${what} ${state} (${shown})`, fix));
    const notes = new Set(own.flatMap(({ note }) => note ?? []));
    return [ok(client, `${client.padEnd(width)}  ${[...new Set(own.map(({ shown }) => shown))].join(', ')}`), ...[...notes].map((note) => open(client, note))];
  });
}

/** The commit guard is optional, so a missing guard is only a note. */
async function guardChecks({ setup: { root } }: SetupCheckContext): Promise<SetupCheck[]> {
  const folder = await hooksFolder(root).catch(() => undefined);
  // Without git there are no commits to guard. `programChecks` reports that git is missing.
  if (folder === undefined) return [];
  const hooks = GUARDED.map((hook) => hookIn(join(folder, hook)));
  const broken = hooks.filter((hook) => hook.state === 'broken');
  if (broken.length > 0) return broken.map(({ message }) => failed('guard', message, 'repair the hook or move it away, then run covibe-local doctor'));
  return [
    hooks.every(({ state }) => state === 'ours')
      ? ok('guard', 'commit guard installed')
      : open('guard', 'no commit guard; to add it, run covibe-local guard install'),
  ];
}

function hookIn(path: string): { state: ReturnType<typeof scriptState> | 'absent' } | { state: 'broken'; message: string } {
  try {
    return { state: scriptState(readFileSync(path, 'latin1')) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { state: 'absent' } : { state: 'broken', message: `the git hook ${path} cannot be read (${code})` };
  }
}

/** Reports the command that starts the bridge for agents. If this command has changed since setup, the file checks report the files as stale. */
function programChecks({ env, setup }: SetupCheckContext): SetupCheck[] {
  const bridge = ok('bridge', `bridge: ${programsFor(env, setup.root).bridge.join(' ')}`);
  return [bridge, ...(hasProgram('git', env) ? [] : [open('git', WITHOUT_GIT)])];
}
