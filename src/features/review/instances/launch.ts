import { join } from 'node:path';
import { ALL_CLIENTS, type Launcher } from '../../../clients/index.ts';
import type { StepRunner } from '../../../kernel/step.ts';
import type { AgentSessions, SessionHandle } from '../../../machine/agent-sessions/agent-session.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { allows } from './lifecycle.ts';
import { FOLDER, OWNER_FILE } from './place.ts';
import { goOn, type InstanceOutside, type InstancePorts, type LeasedInstance, stillMine } from './step.ts';
import { findInstance } from './store.ts';

/** Of the programs that are known; a user can add one or change one in `config.toml` (`[launchers.<name>]`). */
export const LAUNCHERS: Readonly<Record<string, Launcher>> = Object.fromEntries(
  ALL_CLIENTS.flatMap(({ instance }) => (instance ? [[instance.agent, instance.launcher]] : [])),
);

/** What stands in the worktree for the agents to read, below `.covenant/`. The token is named, never written. */
export const connectionFiles = (mcpUrl: string): ReadonlyMap<string, string> =>
  new Map([
    // The folder keeps itself out of git: nothing of the repository's own excludes is touched.
    ['.gitignore', '*\n'],
    ...ALL_CLIENTS.flatMap(({ instance }): [string, string][] =>
      instance?.serverFile ? [[instance.serverFile.name, `${JSON.stringify(instance.serverFile.content(mcpUrl), null, 2)}\n`]] : [],
    ),
  ]);

export interface Filling {
  readonly prompt: string;
  readonly mcp_url: string;
  readonly mcp_config: string;
  readonly instance_id: string;
  readonly worktree: string;
}

export const filled = (text: string, values: Filling): string =>
  text.replace(/\{\{(prompt|mcp_url|mcp_config|instance_id|worktree)\}\}/g, (_, name: keyof Filling) => values[name]);

/** Another has carried on with it: nothing here is ours any more. */
export class TakenOver extends Error {
  override readonly name = 'TakenOver';
}

export function required<T>(row: T | undefined): T {
  if (row === undefined) throw new TakenOver('another server has taken it over');
  return row;
}

/** By what its agent is found again. */
export type RunningAgent = Pick<InstanceRow, 'session_kind' | 'pid' | 'process_start'>;
const running = ({ kind }: AgentSessions, { pid, started }: SessionHandle): RunningAgent => ({ session_kind: kind, pid, process_start: started });

/** Started by whoever was here before, and never recorded: it has the token that was. */
export async function adopt(sessions: AgentSessions, { token_id, session_name }: LeasedInstance): Promise<RunningAgent | undefined> {
  const there = token_id === null ? undefined : await sessions.find(session_name);
  return there && (await sessions.look(there)).state === 'running' ? running(sessions, there) : undefined;
}

export async function issue(
  ports: InstancePorts,
  runner: StepRunner,
  at: LeasedInstance,
  kind: AgentSessions['kind'],
): Promise<{ row: LeasedInstance; token: string }> {
  return required(await runner.write(async (tx) => await withToken(tx, ports, runner.actor, at, kind)));
}

/** One that is told by its input needs no terminal, at which its input would never end. */
export const kindFor = ({ launchers }: InstanceOutside, { agent }: InstanceRow): 'process' | undefined =>
  launchers[agent]?.prompt === 'stdin' ? 'process' : undefined;

/** Starts its program, with its token in the environment and nowhere else. */
export async function launch(outside: InstanceOutside, sessions: AgentSessions, row: LeasedInstance, token: string): Promise<RunningAgent> {
  const launcher = outside.launchers[row.agent];
  if (!launcher) throw new Error(`there is no launcher ${row.agent}`);
  const handle = await sessions.start(spec(outside, launcher, row, token, sessions.kind));
  if (launcher.prompt === 'typed' && sessions.kind === 'tmux') await sessions.type(handle, promptOf(row));
  return running(sessions, handle);
}

/** Each time anew: the server may have another address by now, and there may be something else to say. */
export async function putFiles(outside: InstanceOutside, row: LeasedInstance): Promise<void> {
  const { files, machine } = outside;
  const folder = await files.makeFolder(row.worktree_path, FOLDER);
  const texts = [...connectionFiles(mcpUrl(outside)), [OWNER_FILE, machine], ['prompt.md', promptOf(row)]] as const;
  for (const [name, text] of texts) await files.replaceFile(join(folder, name), text);
}

export interface Restart {
  readonly prompt: string;
}

/** What it is told when it starts: at first what it is for, after that what has happened meanwhile. */
const promptOf = ({ prompt, step, step_data }: LeasedInstance): string => (step === 'restart' ? (JSON.parse(step_data as string) as Restart).prompt : prompt);

/** A token that an earlier attempt had is nobody's now: its value was never kept. The kind is put down first, so that whoever takes over looks in the right place. */
async function withToken(tx: Tx, ports: InstancePorts, actor: string, at: LeasedInstance, kind: AgentSessions['kind']) {
  if (!(await stillMine(tx, at))) return undefined;
  await requireAwaited(tx, at);
  if (at.token_id !== null) await ports.revokeToken(tx, at.token_id, actor);
  const token = await ports.issueToken(tx, at, actor);
  const row = await goOn(tx, at, at.step, { token_id: token.id, session_kind: kind });
  return row && { row, token: token.value };
}

/** Of a review, its parent can still wait for it: whatever was done to that meanwhile holds, and the review is undone. */
export async function requireAwaited(tx: Tx, { parent_instance_id }: InstanceRow): Promise<InstanceRow | undefined> {
  if (parent_instance_id === null) return undefined;
  const parent = await findInstance(tx.db, tx.workspace, parent_instance_id);
  if (!parent || !allows('review requested', parent.status)) throw new Error(`${parent_instance_id} is ${parent?.status ?? 'gone'} by now`);
  return parent;
}

function spec(outside: InstanceOutside, launcher: Launcher, row: LeasedInstance, token: string, kind: 'tmux' | 'process') {
  const values = {
    prompt: promptOf(row),
    mcp_url: mcpUrl(outside),
    mcp_config: join(row.worktree_path, FOLDER),
    instance_id: row.id,
    worktree: row.worktree_path,
  };
  const args = kind === 'process' ? (launcher.headless_args ?? launcher.args) : launcher.args;
  const own = Object.fromEntries(Object.entries(launcher.env).map(([name, value]) => [name, filled(value, values)]));
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
    args: args.map((arg) => filled(arg, values)),
    env: outside.environment(launcher.pass_env, { ...own, ...identity }),
    // Where there is no terminal to type into, its input is what comes nearest.
    input: launcher.prompt === 'stdin' || (launcher.prompt === 'typed' && kind === 'process') ? values.prompt : undefined,
  };
}

const mcpUrl = (outside: InstanceOutside): string => {
  const url = outside.url();
  if (url === undefined) throw new Error('no server listens that the agent could call');
  return `${url}/mcp/review+team+workflow`;
};
