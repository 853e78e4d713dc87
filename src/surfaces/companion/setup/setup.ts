import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { CLIENT_NAMES, type ClientName } from '../../../clients/client.ts';
import { CLIENTS, HTTP_HOOK_PROGRAMS } from '../../../clients/index.ts';
import { covibeHome, readJson } from '../../../wire/covibe-home.ts';
import { credentialsPath, environmentToken, tokensFrom } from '../../../wire/credentials.ts';
import { type BareInvocation, CliError, type CommandResult, option, UsageError } from '../../cli/command.ts';
import { counted } from '../../cli/output.ts';
import { isThisMachine } from '../../origin.ts';
import { originOf, requireRepository } from '../command.ts';
import { installedClients } from '../desired-files.ts';
import { applySetup, inspectSetup, planSetup, type SetupOutcome } from '../files.ts';
import { removeHere } from '../remove.ts';
import { requireReady } from '../server.ts';
import { installService } from '../service/service.ts';
import { noteRepo, noteSetup, type SetUp, setUpAt } from '../state.ts';
import { settleUpdateKey, type UpdateKey } from '../update/pinned-key.ts';
import { beginUsage } from '../watch/sync.ts';
import { codeLine, setupText } from './text.ts';
import { type Identity, identityFromTokens, requireAccepted } from './tokens.ts';

/** Runs setup. It changes nothing until all checks that are possible in advance have passed. */
export async function setUp(invocation: BareInvocation): Promise<CommandResult> {
  const { env, out } = invocation;
  if (invocation.values.remove === true) {
    requireRemoveAlone(invocation);
    return await removeHere(invocation, requireRepository(invocation.cwd));
  }
  const origin = originOf(invocation);
  const place = requireRepository(invocation.cwd);
  const clients = clientsOf(invocation);
  const wanted = wantedHooks(invocation, origin);
  requireOwnFolder(env);
  await requireReady(origin);
  const token = environmentToken(env);
  const failClosed = token === undefined ? false : (await requireAccepted(origin, token)).failClosed;
  const hooks = hooksFor({ wanted, origin, token, failClosed });
  const plan = { env, root: place.root, origin, hooks, clients, now: Date.now() };
  // The files are planned before a person has to approve anything, so that problems
  // appear immediately. Later they are planned again, because they may have changed.
  planSetup(plan);
  const identity: Identity =
    token === undefined ? await identityFromTokens(env, origin, clients, (code) => out.note(codeLine(code))) : { by: 'environment', stored: [] };
  const updateKey = await updateKeyFor(invocation, origin, token ?? Object.values(tokensFrom(env, origin))[0]);
  const outcomes = written(() => applySetup(planSetup(plan)), identity);
  const findings = inspectSetup(plan).filter(({ state }) => state !== 'good');
  noteRepo(env, place, plan.now);
  beginUsage(env, origin, plan.now);
  noteSetup(env, place.root, withEarlier(setUpAt(env, place.root), { origin, hooks, clients }));
  const service = invocation.values['no-service'] === true ? undefined : await installService({ env, origin });
  const report = { origin, root: place.root, hooks, identity, update_key: updateKey, outcomes, findings, service };
  return { json: { kind: 'setup', ...report, service: service ?? null }, text: setupText(report, env, out), exit: findings.length > 0 ? 1 : 0 };
}

/** The owner of this key decides which releases the companion installs, so setup shows the key to the person. */
async function updateKeyFor(invocation: BareInvocation, origin: string, token: string | undefined): Promise<UpdateKey | null> {
  return token === undefined ? null : await settleUpdateKey(invocation.env, origin, token, option(invocation, 'update-key'));
}

function clientsOf(invocation: BareInvocation): ClientName[] {
  const given = option(invocation, 'agents');
  if (given !== undefined) {
    const names = [...new Set(given.split(',').map((name) => name.trim()))];
    const unknown = names.find((name) => !isClient(name));
    if (unknown !== undefined)
      throw new UsageError(`--agents: unknown agent ${JSON.stringify(unknown)}; expected a comma-separated list of ${CLIENT_NAMES.join(', ')}`);
    return names.filter(isClient);
  }
  const installed = installedClients(invocation.env);
  if (installed.length > 0) return installed;
  throw new CliError(
    'NO_AGENTS',
    `None of ${CLIENT_NAMES.join(', ')} was found on this machine. Nothing was changed.`,
    'Install one, or name the agents to set up anyway: covibe-local setup --agents claude-code,codex',
  );
}

/**
 * Refuses other options together with `--remove`, because it always removes everything.
 * A person who adds an option such as `--agents` expects that only a part is removed.
 */
function requireRemoveAlone({ values }: BareInvocation): void {
  const other = ['base-url', 'agents', 'hooks', 'no-service', 'update-key'].find((name) => values[name] !== undefined);
  if (other !== undefined) throw new UsageError(`--remove undoes everything that setup wrote in this repository and cannot be combined with --${other}`);
}

const isClient = (name: string): name is ClientName => CLIENT_NAMES.some((known) => known === name);

function wantedHooks(invocation: BareInvocation, origin: string): 'http' | 'command' | undefined {
  const wanted = option(invocation, 'hooks');
  if (wanted !== undefined && wanted !== 'http' && wanted !== 'command') throw new UsageError('--hooks takes http or command');
  if (wanted !== 'http' || isThisMachine(origin)) return wanted;
  throw new UsageError(`--hooks http works only with a server on this machine: the hooks of ${HTTP_HOOK_PROGRAMS} send prompts and file contents`);
}

interface HookChoice {
  readonly wanted: 'http' | 'command' | undefined;
  readonly origin: string;
  readonly token: string | undefined;
  readonly failClosed: boolean;
}

/**
 * Chooses the type of the hooks. HTTP hooks are faster, because they start no process. But
 * they cannot look up a token, and they cannot block an edit while the server is unreachable.
 */
function hooksFor({ wanted, origin, token, failClosed }: HookChoice): 'http' | 'command' {
  if (wanted === 'http' && token === undefined) throw noHttp('they need COVIBE_MCP_TOKEN, which is not set');
  if (wanted === 'http' && failClosed)
    throw noHttp('hooks.fail_closed is on in this workspace, and HTTP hooks cannot block edits while the server is unreachable');
  return wanted ?? (isThisMachine(origin) && token !== undefined && !failClosed ? 'http' : 'command');
}

const noHttp = (why: string): CliError =>
  new CliError('NO_HTTP_HOOKS', `HTTP hooks would not work here: ${why}. Nothing was changed.`, 'Run setup without --hooks, or with --hooks command.');

/** Checks that the companion's home is writable before setup requests tokens. The server delivers tokens only once, so setup must be able to store them. */
function requireOwnFolder(env: NodeJS.ProcessEnv): void {
  const folder = covibeHome(env);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new CliError(
      'NOT_WRITABLE',
      `${folder} cannot be written (${code}). Nothing was changed.`,
      'Make it writable, or set HOME to a writable folder, then run setup again.',
    );
  }
  const credentials = credentialsPath(env);
  if (!existsSync(credentials) || readJson(credentials) !== undefined) return;
  throw new CliError('BROKEN_FILE', `${credentials} is not valid JSON. Nothing was changed.`, 'Fix the file or move it away, then run setup again.');
}

/** Adds the agents that were set up here before. The hook type can change only if this setup includes an agent that supports both types. */
function withEarlier(before: SetUp | undefined, now: Omit<SetUp, 'root'>): Omit<SetUp, 'root'> {
  const clients = CLIENT_NAMES.filter((client) => now.clients.includes(client) || before?.clients.includes(client));
  const hasChoice = now.clients.some((client) => CLIENTS[client].hooks.overHttp);
  return { ...now, clients, hooks: hasChoice ? now.hooks : (before?.hooks ?? now.hooks) };
}

/** Writes the files. If that fails after tokens were delivered, the error message also says that the tokens are stored. */
function written(apply: () => SetupOutcome[], { stored }: Identity): SetupOutcome[] {
  try {
    return apply();
  } catch (error) {
    if (!(error instanceof CliError) || stored.length === 0) throw error;
    throw new CliError(error.code, `${error.message} ${counted(stored.length, 'token')} (${stored.join(', ')}) were stored and stay valid.`, error.next);
  }
}
