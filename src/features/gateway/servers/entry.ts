import { workspaceName } from '../../../kernel/ids.ts';

/** One `[[mcp.server]]` table of `secrets.toml`, checked and with its variables expanded. */
export interface ServerEntry {
  readonly name: string;
  readonly enabled: boolean;
  /** Its tools and prompts are offered as `<name>_<tool>`. */
  readonly prefix: boolean;
  /** By the server's own names. Undefined: all. */
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[];
  /** Not started before the first call, once its catalogue is known. */
  readonly lazy: boolean;
  readonly timeoutMs: number;
  readonly protocol: 'auto' | 'legacy' | 'modern';
  readonly transport: StdioEntry | HttpEntry;
  /** Where its table begins. */
  readonly line: number;
  /** Names of the workspaces that it serves; `*` is every one. To any other it is as if it were not there. */
  readonly workspaces: readonly string[];
  /** The workspace whose operators look after it; by default the default one. */
  readonly workspace?: string;
}

export const serves = ({ workspaces }: Pick<ServerEntry, 'workspaces'>, workspace: string): boolean =>
  workspaces.includes(EVERY_WORKSPACE) || workspaces.includes(workspaceName(workspace));

export const EVERY_WORKSPACE = '*';

/** Whether both serve some workspace: only there do their names meet. */
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

/** A fault in the file, with its line. Its entry is skipped, the others are not. */
export interface EntryProblem {
  readonly line: number | null;
  readonly server: string | null;
  readonly message: string;
}
