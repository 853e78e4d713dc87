import { workspaceName } from '../../../kernel/ids.ts';

/** One `[[mcp.server]]` table of `secrets.toml`, checked and with its variables expanded. */
export interface ServerEntry {
  readonly name: string;
  readonly enabled: boolean;
  /** Offer its tools and prompts as `<name>_<tool>`. */
  readonly prefix: boolean;
  /** The server's own names to include. Undefined: all. */
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[];
  /** Start it only for the first call, once its catalogue is known. */
  readonly lazy: boolean;
  readonly timeoutMs: number;
  readonly protocol: 'auto' | 'legacy' | 'modern';
  readonly transport: StdioEntry | HttpEntry;
  /** The first line of its table. */
  readonly line: number;
  /** Names of the workspaces that it serves; `*` for all. In other workspaces it appears not to exist. */
  readonly workspaces: readonly string[];
  /** The workspace whose operators manage it; default: the default workspace. */
  readonly workspace?: string;
}

export const serves = ({ workspaces }: Pick<ServerEntry, 'workspaces'>, workspace: string): boolean =>
  workspaces.includes(EVERY_WORKSPACE) || workspaces.includes(workspaceName(workspace));

export const EVERY_WORKSPACE = '*';

/** Whether both serve a common workspace. Only there can their names collide. */
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

/** A fault in the file, with its line. Only its entry is skipped. */
export interface EntryProblem {
  readonly line: number | null;
  readonly server: string | null;
  readonly message: string;
}
