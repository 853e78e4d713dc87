import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, homeFolder, loadConfig } from '../../../config.ts';
import { findServer } from '../client.ts';
import { type Command, type Invocation, UsageError } from '../command.ts';
import { credentialsPath } from '../home.ts';
import { agentsLeft } from './doctor-agents.ts';

type State = 'ok' | 'fixed' | 'warning' | 'failed' | 'skipped';
export interface Finding {
  check: string;
  state: State;
  message: string;
  fix?: string;
}
type Check = (invocation: Invocation) => Promise<Finding | Finding[]> | Finding | Finding[];

export const doctorCommand: Command = {
  name: 'doctor',
  local: true,
  summary:
    'Check this installation, and say how to mend what is wrong. --fix clears what agents have left; --force PATH a worktree with work in it, after a backup.',
  options: { verbose: { type: 'boolean' }, fix: { type: 'boolean' }, force: { type: 'string' } },
  async run(invocation) {
    if (invocation.values.force !== undefined && invocation.values.fix !== true) throw new UsageError('--force PATH goes with --fix');
    const findings = (await Promise.all(CHECKS.map((check) => check(invocation)))).flat();
    // After the others: it opens the store, which they look at as it lies there.
    findings.push(...(await agentsLeft(invocation)));
    const count = (state: State) => findings.filter((finding) => finding.state === state).length;
    const shown = invocation.values.verbose ? findings : findings.filter((finding) => finding.state !== 'ok');
    const { mark } = invocation.out;
    const marks: Record<State, string> = { ok: mark.good, fixed: mark.good, warning: mark.wait, failed: mark.bad, skipped: mark.quiet };
    const lines = shown.map(({ state, message, fix }) => `${marks[state]} ${message}${fix ? `\n    fix: ${fix}` : ''}`);
    if (findings.some(({ check, state }) => check === 'agents' && state === 'warning') && invocation.values.fix !== true)
      lines.push('    next: covenant doctor --fix');
    lines.push(`${count('failed')} failed, ${count('warning')} warning, ${count('ok')} ok${invocation.values.verbose ? '' : ' (--verbose)'}`);
    return { json: { kind: 'doctor_report', failed: count('failed'), items: findings }, text: lines.join('\n'), exit: count('failed') > 0 ? 1 : 0 };
  },
};

const CHECKS: readonly Check[] = [node, git, home, config, externalServers, database, server];

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > 22 || (major === 22 && minor >= 13);
  return enough
    ? { check: 'node', state: 'ok', message: `Node ${process.versions.node}` }
    : { check: 'node', state: 'failed', message: `Node ${process.versions.node} is too old`, fix: 'install Node 22.13 or newer' };
}

function git(): Finding {
  try {
    return { check: 'git', state: 'ok', message: execFileSync('git', ['--version'], { encoding: 'utf8' }).trim() };
  } catch {
    return { check: 'git', state: 'warning', message: 'git not found: worktrees and reviews will not work', fix: 'install git' };
  }
}

/** What only the owner may read: whoever reads the credentials is the operator. */
function home({ env }: Invocation): Finding | Finding[] {
  const folder = homeFolder(env);
  if (!existsSync(folder)) return { check: 'home', state: 'skipped', message: `${folder} does not exist yet: covenant up makes it` };
  const file = credentialsPath(folder);
  if (!existsSync(file)) return [];
  const mode = statSync(file).mode & 0o777;
  return mode & 0o077
    ? { check: 'home', state: 'failed', message: `${file} can be read by others (0${mode.toString(8)})`, fix: `chmod 600 ${file}` }
    : { check: 'home', state: 'ok', message: `${file} is private` };
}

function config({ env }: Invocation): Finding {
  try {
    loadConfig(env);
    return { check: 'config', state: 'ok', message: 'configuration is valid' };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { check: 'config', state: 'failed', message: error.message, fix: 'correct that setting' };
  }
}

/** Who may read the file; entries that are skipped, and why. */
async function externalServers({ env }: Invocation): Promise<Finding[]> {
  const { readEntries } = await import('../../../features/upstreams/secrets.ts');
  const folder = homeFolder(env);
  const file = join(folder, 'secrets.toml');
  const { entries, problems } = readEntries(file, { env, home: folder, toolTimeoutMs: 1 });
  if (problems.length === 0)
    return [{ check: 'servers', state: 'ok', message: `${file} names ${entries.length} external server${entries.length === 1 ? '' : 's'}` }];
  return problems.map(({ line, server: name, message }) => ({
    check: 'servers',
    state: 'failed',
    message: line === null ? message : `${file}:${line}: ${name === null ? '' : `${name}: `}${message}`,
    fix: line === null ? `chmod 600 ${file}` : 'correct that line; a server that runs reads it again by itself',
  }));
}

async function database({ env }: Invocation): Promise<Finding> {
  let path: string;
  try {
    const loaded = loadConfig(env);
    if (loaded.database_url) return { check: 'database', state: 'skipped', message: 'PostgreSQL is checked through the server' };
    path = loaded.database_path;
  } catch {
    return { check: 'database', state: 'skipped', message: 'the database is not checked while the configuration is wrong' };
  }
  if (!existsSync(path)) return { check: 'database', state: 'skipped', message: `${path} does not exist yet` };
  const { checkDatabaseFile } = await import('../../../storage/inspect.ts');
  const problem = await checkDatabaseFile(path);
  return problem
    ? { check: 'database', state: 'failed', message: `${path}: ${problem}`, fix: 'covenant restore FILE puts a backup in its place' }
    : { check: 'database', state: 'ok', message: `${path} is sound` };
}

/** A server that does not run is no fault; one that runs and is not healthy is. */
async function server({ env }: Invocation): Promise<Finding> {
  const running = await findServer(env);
  if (!running) return { check: 'server', state: 'skipped', message: 'no server of this home runs' };
  const response = await fetch(`${running.url}/api/health`);
  return response.ok
    ? { check: 'server', state: 'ok', message: `serving at ${running.url}` }
    : { check: 'server', state: 'failed', message: `${running.url} is not healthy`, fix: 'look into its log' };
}
