import { workspaceName } from '../../../kernel/ids.ts';

/** One `[[mcp.server]]` table of `secrets.toml`, checked and with its variables expanded. */
export interface ServerEntry {
  readonly name: string;
  readonly enabled: boolean;
  /** If true, the tools and prompts of the server are offered as `<name>_<tool>`. */
  readonly prefix: boolean;
  /** The tools and prompts to offer, by the names that the server uses. Undefined means all. */
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[];
  /** If true, the server starts only when it is called. Before that, it is started once to read its catalogue. */
  readonly lazy: boolean;
  readonly timeoutMs: number;
  readonly protocol: 'auto' | 'legacy' | 'modern';
  readonly transport: StdioEntry | HttpEntry;
  /** The line in secrets.toml where the table of the server begins. */
  readonly line: number;
  /** Names of the workspaces that the server serves; `*` means all. Other workspaces cannot see the server. */
  readonly workspaces: readonly string[];
  /** The workspace whose operators manage the server. If undefined, the default workspace. */
  readonly workspace?: string;
}

export const serves = ({ workspaces }: Pick<ServerEntry, 'workspaces'>, workspace: string): boolean =>
  workspaces.includes(EVERY_WORKSPACE) || workspaces.includes(workspaceName(workspace));

export const EVERY_WORKSPACE = '*';

/** Whether there is a workspace that both servers serve. Only in such a workspace can their names collide. */
export const shareWorkspace = (a: Pick<ServerEntry, 'workspaces'>, b: Pick<ServerEntry, 'workspaces'>): boolean =>
  [a, b].some(({ workspaces }) => workspaces.includes(EVERY_WORKSPACE)) || a.workspaces.some((name) => b.workspaces.includes(name));

export interface StdioEntry {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

export interface HttpEntry {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A fault in the file, with its line. Only the entry with the fault is skipped. */
export interface EntryProblem {
  readonly line: number | null;
  readonly server: string | null;
  readonly message: string;
}
