import type { HookAnswer, HookEvent, HookQuestion, WrittenPath } from '../wire/hook-question.ts';
import type { FileTools } from './hook-payload.ts';

/**
 * The names of the agent programs that Covenant supports, as used in tokens, commands and hooks. To add a program, write its file
 * and add its name here and to CLIENTS in index.ts. The compiler reports a name that is missing in one of the two places. The
 * list is in this file, so that contracts can import the names without the code of the programs.
 */
export const CLIENT_NAMES = ['claude-code', 'codex', 'cursor', 'gemini', 'opencode'] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

/** Everything that differs between agent programs. */
export interface AgentClient {
  readonly name: ClientName;
  /** The product name in its usual spelling, such as "opencode". */
  readonly displayName: string;
  /** The agent program counts as installed if one of these programs or folders exists. */
  readonly programs: readonly string[];
  readonly folders: (env: NodeJS.ProcessEnv) => readonly string[];
  /**
   * Environment variables that change the location of its folders. They are copied into the background service, so none of them
   * may contain a token.
   */
  readonly folderVariables: readonly string[];
  readonly connection: ClientConnection;
  readonly hooks: HookClient;
  /** The files that `covibe-local setup` writes for this agent program. */
  readonly files: (setting: SetupContext) => readonly FileSpec[];
  /**
   * `set`: the environment variables that the program sets for the commands of its agent. `run`: the variable that contains the
   * id of the run. Variables that are also set when a person runs a command do not belong here, such as CODEX_HOME, or
   * CURSOR_TRACE_ID in the editor's terminal.
   */
  readonly commandMarks: {
    readonly set: readonly string[];
    readonly run?: string;
    /**
     * An agent program may run in the terminal of another one, so that the variables of both are set. In this case, the program
     * with the lowest rank counts as the one that runs the command.
     */
    readonly rank: number;
  };
  /** The names of the usage file formats that this program writes. */
  readonly usageSources: readonly string[];
  /** How the server starts the program as an instance. Unset if the server cannot do that. */
  readonly instance?: InstanceClient;
}

/** A text that a person runs as a command or adds to a file, and the place for it. */
export interface Snippet {
  readonly where: string;
  readonly text: string;
}

/** The settings with which a client starts the bridge. */
export interface Bridge {
  readonly baseUrl: string;
  /** The working folder of the bridge. Undefined: the folder in which the client starts the bridge. */
  readonly cwd?: string | undefined;
  /** The command that starts the bridge. Default: `covibe-mcp` from the PATH. */
  readonly command?: readonly string[];
}

/** Describes how a client connects to a server. */
export interface ClientConnection {
  readonly http: (url: string, token: string) => Snippet;
  /** The client's configuration file for MCP servers. */
  readonly file: string;
  readonly section: string;
  readonly format: 'json' | 'toml';
  /**
   * The configuration entry for the bridge `covibe-mcp`, for clients that only support stdio. The entry takes the token from the
   * environment, because people share configuration files.
   */
  readonly stdio: (bridge: Bridge) => Readonly<Record<string, unknown>>;
}

/** The payload of a hook, reduced to names, ids, paths and numbers, without private content. */
export interface ReducedPayload extends Omit<HookQuestion, 'edits' | 'repo' | 'branch'> {
  /** The files that the tool is about to write. Paths are absolute or relative to `folder`. */
  readonly files?: readonly WrittenPath[];
  /** True if the tool may write more files than could be determined. */
  readonly unread?: boolean;
}

/** The answer to a hook in the client's own format. The client reads it from stdout or from the body of an HTTP response. */
export type RenderedAnswer = Readonly<Record<string, unknown>>;

/**
 * The hook format of one client. It contains only pure functions, because both programs use them: the server for hooks that call
 * it over HTTP, and the companion for the other hooks of all clients.
 */
export interface HookClient {
  /** The name that the client uses for each event. */
  readonly events: Readonly<Partial<Record<HookEvent, string>>>;
  /**
   * Events at which the client shows the context of the answer to its agent. At other events the context is lost, so nothing in
   * it counts as delivered.
   */
  readonly contextEvents: readonly HookEvent[];
  readonly fileTools: FileTools;
  /** Extracts names, ids and paths from the client's payload, and drops prompts, answers, commands and file contents. */
  reduce(event: HookEvent, native: Readonly<Record<string, unknown>>): ReducedPayload;
  render(event: HookEvent, answer: HookAnswer): RenderedAnswer;
  /** Events at which the client can call the server directly over HTTP and send its own payload. */
  readonly overHttp?: readonly HookEvent[];
  /** Returns the path of the client's own transcript of the run, from which the companion reads the usage. */
  readonly transcript?: (native: Readonly<Record<string, unknown>>) => string | undefined;
  /** Whether another program called this hook in addition to its own hooks. Such a call is ignored. */
  readonly isForeign?: (native: Readonly<Record<string, unknown>>) => boolean;
}

/** How agents start Covenant's programs: by name, from the packages of the repository, or by their path on this machine. */
export interface Programs {
  readonly by: 'name' | 'package' | 'path';
  readonly bridge: readonly string[];
  /**
   * Returns the shell command that starts the companion. `top`: the client's expression for the top of the repository. Without
   * it, npx has to find the package, which is slower.
   */
  companion(top: string | undefined): string;
  readonly companionArgs: readonly string[];
}

/** The facts that determine the content of a client's files. */
export interface SetupContext {
  readonly env: NodeJS.ProcessEnv;
  readonly root: string;
  readonly origin: string;
  readonly hooks: 'http' | 'command';
  readonly programs: Programs;
}

/** The entries that setup writes to one file. */
export interface FileSpec {
  readonly path: string;
  /** `machine`: all repositories on this machine share the file. */
  readonly scope: 'repository' | 'machine';
  readonly entries: readonly ConfigEntry[];
  /** What the person has to do after setup has written the file. */
  readonly note?: string;
}

/** An entry that setup writes to a file. It is plain data that setup records, so that a later setup can find and remove the entry. */
export type ConfigEntry = MemberEntry | ItemEntry | TableEntry | WholeEntry;

interface NamedEntry {
  /** The name of the entry in messages for people, such as `server entry` or `SessionStart hook`. */
  readonly what: string;
}

/** A member of a JSON object. If `value` is an object, setup writes only the keys of `value`, and other keys in the file stay. */
export interface MemberEntry extends NamedEntry {
  readonly kind: 'member';
  readonly at: readonly string[];
  readonly value: unknown;
  /** Setup writes the entry only if it is missing. The removal of setup keeps it, because other programs may have extended it. */
  readonly isDefault?: true;
}

/** An element of a JSON list, such as a hook or a group of hooks. Setup writes only the keys of `value`, and other keys in the file stay. */
export interface ItemEntry extends NamedEntry {
  readonly kind: 'item';
  readonly list: readonly string[];
  readonly value: unknown;
  /** A pattern that matches the commands and addresses of our own entries, whichever version of setup wrote them. */
  readonly ours: string;
}

/** A TOML table with one key per line. */
export interface TableEntry extends NamedEntry {
  readonly kind: 'table';
  readonly at: readonly [string, string];
  readonly value: Readonly<Record<string, unknown>>;
}

/** A file whose whole content setup writes. */
export interface WholeEntry extends NamedEntry {
  readonly kind: 'whole';
  readonly text: string;
  /** Written only if missing. */
  readonly isDefault?: true;
}

/**
 * How the server starts an agent program. It is plain data, so that a user can add or change a launcher in `config.toml`
 * (`[launchers.<name>]`). In `args`, `headless_args` and `env`, these placeholders are replaced: {{prompt}}, {{mcp_url}},
 * {{mcp_config}} (the folder with the files below), {{instance_id}}, {{worktree}}.
 */
export interface Launcher {
  readonly command: string;
  /** The arguments if the program runs in a terminal. */
  readonly args: readonly string[];
  /** The arguments if the program runs without a terminal, because tmux is not installed. Default: `args`. */
  readonly headless_args?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the server's environment to pass on to the agent program, such as the API key of its model. */
  readonly pass_env: readonly string[];
  /**
   * How the program receives its prompt. `argument`: the arguments contain {{prompt}}. `typed`: the server types it into the
   * terminal once the program runs. `stdin`: the server writes it to standard input. `file`: the prompt is only in
   * {{mcp_config}}/prompt.md.
   */
  readonly prompt: 'argument' | 'typed' | 'stdin' | 'file';
  /** The only workspace in which the agent program can be started. Default: all workspaces. */
  readonly workspace?: string | undefined;
}

/** A client that the server can start as an instance. */
export interface InstanceClient {
  /** The name of the agent program in instances and in `[launchers.<name>]`. */
  readonly agent: string;
  /** The runtime with which the server registers agents of this program. */
  readonly runtime: 'claude_code' | 'codex' | 'gemini' | 'opencode';
  readonly launcher: Launcher;
  /**
   * A file in {{mcp_config}} with the address of the server, for programs that do not get it in their arguments. The file names
   * the environment variable with the token and never contains the token itself.
   */
  readonly serverFile?: { readonly name: string; readonly content: (mcpUrl: string) => unknown };
}
