import type { HookAnswer, HookEvent, HookQuestion, WrittenPath } from '../wire/hook-question.ts';
import type { FileTools } from './hook-payload.ts';

/**
 * The agent programs that Covenant knows, by the names used in tokens, commands and hooks. To add a program, write its file and add its name here and to
 * CLIENTS in index.ts; the compiler refuses a name that is only in one place. The names are in this file, because contracts import them without the
 * programs' code.
 */
export const CLIENT_NAMES = ['claude-code', 'codex', 'cursor', 'gemini', 'opencode'] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

/** Everything that differs between agent programs. */
export interface AgentClient {
  readonly name: ClientName;
  /** As its makers and people write it. */
  readonly displayName: string;
  /** Any of these programs or folders shows that it is installed. */
  readonly programs: readonly string[];
  readonly folders: (env: NodeJS.ProcessEnv) => readonly string[];
  /** Variables that move its folders. A background service needs them; none may contain a token. */
  readonly folderVariables: readonly string[];
  readonly connection: ClientConnection;
  readonly hooks: HookClient;
  /** The files that setup writes for it. */
  readonly files: (setting: SetupContext) => readonly FileSpec[];
  /**
   * The variables that it sets for commands that it runs for its agent, and the variable that names the run. Variables that people may set
   * themselves do not count, such as CODEX_HOME, or CURSOR_TRACE_ID in the editor's terminal.
   */
  readonly commandMarks: {
    readonly set: readonly string[];
    readonly run?: string;
    /** A program may run in another program's terminal and find its marks. The program with the lowest rank then counts as the one that runs the command. */
    readonly rank: number;
  };
  /** The formats of usage files that belong to it. */
  readonly usageSources: readonly string[];
  /** How the server starts it as an instance, if it can. */
  readonly instance?: InstanceClient;
}

/** A text to run or to put into a file, and where. */
export interface Snippet {
  readonly where: string;
  readonly text: string;
}

/** How a client should start the bridge. */
export interface Bridge {
  readonly baseUrl: string;
  /** Undefined: in the folder where the client starts it. */
  readonly cwd?: string | undefined;
  /** The bridge's command; default: its own name, from the PATH. */
  readonly command?: readonly string[];
}

/** How a client connects to a server. */
export interface ClientConnection {
  readonly http: (url: string, token: string) => Snippet;
  /** The configuration file with its servers. */
  readonly file: string;
  readonly section: string;
  readonly format: 'json' | 'toml';
  /** Through the bridge `covibe-mcp`, for clients that only support stdio. The token comes from the environment, because files are shared. */
  readonly stdio: (bridge: Bridge) => Readonly<Record<string, unknown>>;
}

/** What a client's hook reports, without private content. */
export interface ReducedPayload extends Omit<HookQuestion, 'edits' | 'repo' | 'branch'> {
  /** Files about to be written: absolute, or relative to `folder`. */
  readonly files?: readonly WrittenPath[];
  /** There may be more files, which could not be read. */
  readonly unread?: boolean;
}

/** What a client reads from a hook's answer: on stdout, or as a reply's body. */
export type RenderedAnswer = Readonly<Record<string, unknown>>;

/** The hook format of one client. Pure functions: the server uses them for hooks that call it directly, the companion for all clients. */
export interface HookClient {
  /** The client's own names of the events. */
  readonly events: Readonly<Partial<Record<HookEvent, string>>>;
  /** Events at which the agent is shown the answer's context. At other events the context is lost, so nothing in it counts as delivered. */
  readonly contextEvents: readonly HookEvent[];
  readonly fileTools: FileTools;
  /** Extracts names, ids and paths, and drops prompts, answers, commands and contents. */
  reduce(event: HookEvent, native: Readonly<Record<string, unknown>>): ReducedPayload;
  render(event: HookEvent, answer: HookAnswer): RenderedAnswer;
  /** Events at which the client can call the server directly, with its own payload. */
  readonly overHttp?: readonly HookEvent[];
  /** The path of its own record of the run, from which usage is read. */
  readonly transcript?: (native: Readonly<Record<string, unknown>>) => string | undefined;
  /** Whether another program called this hook in addition to its own hooks. Such a call is ignored. */
  readonly isForeign?: (native: Readonly<Record<string, unknown>>) => boolean;
}

/** How agents start our programs: by name, from the repository's own packages, or by their path on this machine. */
export interface Programs {
  readonly by: 'name' | 'package' | 'path';
  readonly bridge: readonly string[];
  /** As a shell command. `top`: the client's expression for the top of the repository; without it npx finds the package, but more slowly. */
  companion(top: string | undefined): string;
  readonly companionArgs: readonly string[];
}

/** What a client's files depend on. */
export interface SetupContext {
  readonly env: NodeJS.ProcessEnv;
  readonly root: string;
  readonly origin: string;
  readonly hooks: 'http' | 'command';
  readonly programs: Programs;
}

/** The wanted content of one file. */
export interface FileSpec {
  readonly path: string;
  /** `machine`: one file for all repositories. */
  readonly scope: 'repository' | 'machine';
  readonly entries: readonly ConfigEntry[];
  /** What the person has to do after it is written. */
  readonly note?: string;
}

/** An entry that setup wants in a file. Plain data that is recorded, so that the entry can be found and removed again. */
export type ConfigEntry = MemberEntry | ItemEntry | TableEntry | WholeEntry;

interface NamedEntry {
  /** The name for people: `server entry`, `SessionStart hook`. */
  readonly what: string;
}

/** A member of a JSON object. If its value is an object, only the keys of that object are set, and other keys in the file stay. */
export interface MemberEntry extends NamedEntry {
  readonly kind: 'member';
  readonly at: readonly string[];
  readonly value: unknown;
  /** Written only if missing. It stays on removal, because others may have added to it. */
  readonly isDefault?: true;
}

/** An element of a JSON list: a hook, or a group of hooks. Its keys are set, and other keys in the file stay. */
export interface ItemEntry extends NamedEntry {
  readonly kind: 'item';
  readonly list: readonly string[];
  readonly value: unknown;
  /** A pattern: commands and addresses that match it are ours, of any version. */
  readonly ours: string;
}

/** A TOML table, one key per line. */
export interface TableEntry extends NamedEntry {
  readonly kind: 'table';
  readonly at: readonly [string, string];
  readonly value: Readonly<Record<string, unknown>>;
}

/** A file that belongs completely to setup. */
export interface WholeEntry extends NamedEntry {
  readonly kind: 'whole';
  readonly text: string;
  /** Written only if missing. */
  readonly isDefault?: true;
}

/**
 * How an agent program is started. Plain data, so that a user can add or change one in `config.toml` (`[launchers.<name>]`). In `args`,
 * `headless_args` and `env` these are replaced: {{prompt}}, {{mcp_url}}, {{mcp_config}} (the folder with the files below), {{instance_id}},
 * {{worktree}}.
 */
export interface Launcher {
  readonly command: string;
  /** Arguments in a terminal. */
  readonly args: readonly string[];
  /** Arguments without a terminal, if tmux is missing. Default: `args`. */
  readonly headless_args?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the server's environment to pass on, such as the key of its model. */
  readonly pass_env: readonly string[];
  /**
   * `argument`: {{prompt}} in its arguments. `typed`: typed into its terminal once it runs. `stdin`: written to its input. `file`: only in
   * {{mcp_config}}/prompt.md.
   */
  readonly prompt: 'argument' | 'typed' | 'stdin' | 'file';
  /** The only workspace that has it; default: every workspace. */
  readonly workspace?: string | undefined;
}

/** A client that the server can start as an instance. */
export interface InstanceClient {
  /** The name in instances and `[launchers.<name>]`. */
  readonly agent: string;
  /** The runtime of its registered agents. */
  readonly runtime: 'claude_code' | 'codex' | 'gemini' | 'opencode';
  readonly launcher: Launcher;
  /** A file in {{mcp_config}} that configures the server, if its arguments do not. It refers to the token's variable and never contains the token. */
  readonly serverFile?: { readonly name: string; readonly content: (mcpUrl: string) => unknown };
}
