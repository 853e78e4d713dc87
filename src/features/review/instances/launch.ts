import { join } from 'node:path';
import { ALL_CLIENTS, type Launcher } from '../../../clients/index.ts';
import type { StepRunner } from '../../../kernel/step.ts';
import type { AgentSessions, SessionHandle } from '../../../machine/agent-sessions/agent-session.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { requireParentReady } from './guards.ts';
import { FOLDER, OWNER_FILE } from './place.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { goOn, type LeasedInstance, requireStillHeld, stillMine } from './step.ts';

/** Launchers for the agent programs that Covenant supports. Users can add or change launchers in `config.toml` (`[launchers.<name>]`). */
export const LAUNCHERS: Readonly<Record<string, Launcher>> = Object.fromEntries(
  ALL_CLIENTS.flatMap(({ instance }) => (instance ? [[instance.agent, instance.launcher]] : [])),
);

/**
 * Returns the files that tell the agent's program how to reach the server. They are written to `.covenant/` in the worktree. They contain the name of
 * the environment variable with the token, but never the token itself.
 */
export const connectionFiles = (mcpUrl: string): ReadonlyMap<string, string> =>
  new Map([
    // Makes git ignore the folder. The ignore rules of the repository itself do not change.
    ['.gitignore', '*\n'],
    ...ALL_CLIENTS.flatMap(({ instance }): [string, string][] =>
      instance?.serverFile ? [[instance.serverFile.name, `${JSON.stringify(instance.serverFile.content(mcpUrl), null, 2)}\n`]] : [],
    ),
  ]);

export interface LauncherValues {
  readonly prompt: string;
  readonly mcp_url: string;
  readonly mcp_config: string;
  readonly instance_id: string;
  readonly worktree: string;
}

export const fillPlaceholders = (text: string, values: LauncherValues): string =>
  text.replace(/\{\{(prompt|mcp_url|mcp_config|instance_id|worktree)\}\}/g, (_, name: keyof LauncherValues) => values[name]);

/** The columns that identify the running agent of an instance. */
export type RunningAgent = Pick<InstanceRow, 'session_kind' | 'pid' | 'process_start'>;
const running = ({ kind }: AgentSessions, { pid, started }: SessionHandle): RunningAgent => ({ session_kind: kind, pid, process_start: started });

/** Finds an agent that an earlier attempt started but did not record. This agent still has the token of the earlier attempt. */
export async function adopt(sessions: AgentSessions, { token_id, session_name }: LeasedInstance): Promise<RunningAgent | undefined> {
  const there = token_id === null ? undefined : await sessions.find(session_name);
  return there && (await sessions.look(there)).state === 'running' ? running(sessions, there) : undefined;
}

export async function issueToken(
  ports: InstancePorts,
  runner: StepRunner,
  at: LeasedInstance,
  kind: AgentSessions['kind'],
): Promise<{ row: LeasedInstance; token: string }> {
  return requireStillHeld(await runner.write(async (tx) => await replaceToken(tx, ports, runner.actor, at, kind)));
}

/** A program that reads its prompt from stdin runs without a terminal, because stdin must end after the prompt. */
export const kindFor = ({ launchers }: InstanceOutside, { agent }: InstanceRow): 'process' | undefined =>
  launchers[agent]?.prompt === 'stdin' ? 'process' : undefined;

/** Starts the agent's program. The program gets its token only in its environment, not as an argument or in a file. */
export async function launch(outside: InstanceOutside, sessions: AgentSessions, row: LeasedInstance, token: string): Promise<RunningAgent> {
  const launcher = outside.launchers[row.agent];
  if (!launcher) throw new Error(`the launcher ${row.agent} does not exist`);
  const handle = await sessions.start(sessionSpec(outside, launcher, row, token, sessions.kind));
  if (launcher.prompt === 'typed' && sessions.kind === 'tmux') await sessions.type(handle, promptOf(row));
  return running(sessions, handle);
}

/** Writes the files for the agent's program. This happens at each start, because the server's address and the prompt may have changed. */
export async function writeAgentFiles(outside: InstanceOutside, row: LeasedInstance): Promise<void> {
  const { files, machine } = outside;
  const folder = await files.makeFolder(row.worktree_path, FOLDER);
  const texts = [...connectionFiles(mcpUrl(outside)), [OWNER_FILE, machine], ['prompt.md', promptOf(row)]] as const;
  for (const [name, text] of texts) await files.replaceFile(join(folder, name), text);
}

export interface Restart {
  readonly prompt: string;
}

/** At its first start, an agent gets its task as the prompt. At a restart, it gets the news that it has not received yet. */
const promptOf = ({ prompt, step, step_data }: LeasedInstance): string => (step === 'restart' ? (JSON.parse(step_data as string) as Restart).prompt : prompt);

/**
 * Issues a token. Revokes the token of an earlier attempt, because the value of that token is lost. Stores the session kind before the start, so that
 * a server that takes over looks for the right kind of session.
 */
async function replaceToken(tx: Tx, ports: InstancePorts, actor: string, at: LeasedInstance, kind: AgentSessions['kind']) {
  if (!(await stillMine(tx, at))) return undefined;
  await requireParentReady(tx, at);
  if (at.token_id !== null) await ports.revokeToken(tx, at.token_id, actor);
  const token = await ports.issueToken(tx, at, actor);
  const row = await goOn(tx, at, at.step, { token_id: token.id, session_kind: kind });
  return row && { row, token: token.value };
}

function sessionSpec(outside: InstanceOutside, launcher: Launcher, row: LeasedInstance, token: string, kind: 'tmux' | 'process') {
  const values = {
    prompt: promptOf(row),
    mcp_url: mcpUrl(outside),
    mcp_config: join(row.worktree_path, FOLDER),
    instance_id: row.id,
    worktree: row.worktree_path,
  };
  const args = kind === 'process' ? (launcher.headless_args ?? launcher.args) : launcher.args;
  const own = Object.fromEntries(Object.entries(launcher.env).map(([name, value]) => [name, fillPlaceholders(value, values)]));
  const identity = {
    COVIBE_MCP_TOKEN: token,
    COVIBE_BASE_URL: outside.url() as string,
    COVENANT_INSTANCE_ID: row.id,
    COVENANT_AGENT_ID: row.agent_id,
  };
  return {
    name: row.session_name,
    cwd: row.worktree_path,
    file: launcher.command,
    args: args.map((arg) => fillPlaceholders(arg, values)),
    env: outside.environment(launcher.pass_env, { ...own, ...identity }),
    // If there is no terminal to type into, the prompt is written to stdin.
    input: launcher.prompt === 'stdin' || (launcher.prompt === 'typed' && kind === 'process') ? values.prompt : undefined,
  };
}

const mcpUrl = (outside: InstanceOutside): string => {
  const url = outside.url();
  if (url === undefined) throw new Error('no Covenant server is running for the agent to call');
  return `${url}/mcp/review+team+workflow`;
};
