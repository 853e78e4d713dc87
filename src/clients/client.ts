import type { HookAnswer, HookEvent, HookQuestion, WrittenPath } from '../wire/hook-question.ts';
import type { FileTools } from './hook-payload.ts';

/**
 * The agent programs that Covenant knows, as tokens, commands and hooks call them. To add one, write its file, and name it here and in CLIENTS
 * (index.ts): the compiler refuses one without the other. The names are apart because contracts load them, and none of the programs' code.
 */
export const CLIENT_NAMES = ['claude-code', 'codex', 'cursor', 'gemini', 'opencode'] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

/** All that differs between one agent program and another. */
export interface AgentClient {
  readonly name: ClientName;
  /** As its makers and people write it. */
  readonly displayName: string;
  /** Any of these programs or folders says that it is on this machine. */
  readonly programs: readonly string[];
  readonly folders: (env: NodeJS.ProcessEnv) => readonly string[];
  /** Variables that move its folders. A background service must be given them; none can hold a token. */
  readonly folderVariables: readonly string[];
  readonly connection: ClientConnection;
  readonly hooks: HookClient;
  /** What setup writes for it. */
  readonly files: (setting: SetupContext) => readonly FileSpec[];
  /**
   * What it leaves in the environment of the commands that it runs for its agent, with the variable that names the run. Not what people
   * have in theirs: CODEX_HOME, or CURSOR_TRACE_ID in a terminal of the editor.
   */
  readonly commandMarks: {
    readonly set: readonly string[];
    readonly run?: string;
    /** Of several programs that have left marks, the one with the lowest rank runs the command: one may run in the terminal of another. */
    readonly rank: number;
  };
  /** The formats of usage files that are its own. */
  readonly usageSources: readonly string[];
  /** How the server starts it as an instance, where it can. */
  readonly instance?: InstanceClient;
}

/** A text to run, or to put into a file, and where. */
export interface Snippet {
  readonly where: string;
  readonly text: string;
}

/** How a client is to start the bridge. */
export interface Bridge {
  readonly baseUrl: string;
  /** Undefined: where the client starts it. */
  readonly cwd?: string | undefined;
  /** Its own name, unless it is on no PATH. */
  readonly command?: readonly string[];
}

/** How a client is told of a server. */
export interface ClientConnection {
  readonly http: (url: string, token: string) => Snippet;
  /** The file that its servers stand in, and where in that file. */
  readonly file: string;
  readonly section: string;
  readonly format: 'json' | 'toml';
  /** By the bridge `covibe-mcp`, for clients that speak stdio alone. The token is taken from the environment: files are shared. */
  readonly stdio: (bridge: Bridge) => Readonly<Record<string, unknown>>;
}

/** What a client's hook says, without anything that only it should know. */
export interface ReducedPayload extends Omit<HookQuestion, 'edits' | 'repo' | 'branch'> {
  /** What is about to be written: absolute, or from `folder`. */
  readonly files?: readonly WrittenPath[];
  /** There may be more, which nobody has read. */
  readonly unread?: boolean;
}

/** What a client reads of a hook's answer: on stdout, or as the body of a reply. */
export type RenderedAnswer = Readonly<Record<string, unknown>>;

/** How one client's hooks speak. Pure: the server reads hooks that call it by themselves with it, the companion those of all clients. */
export interface HookClient {
  /** The client's own names of the events. */
  readonly events: Readonly<Partial<Record<HookEvent, string>>>;
  /** Events at which the agent is shown an answer's context. At any other it is lost, and nothing in it counts as delivered. */
  readonly contextEvents: readonly HookEvent[];
  readonly fileTools: FileTools;
  /** Takes names, ids and paths, and leaves prompts, answers, commands and contents behind. */
  reduce(event: HookEvent, native: Readonly<Record<string, unknown>>): ReducedPayload;
  render(event: HookEvent, answer: HookAnswer): RenderedAnswer;
  /** Events at which it can call the server by itself, with its own payload. */
  readonly overHttp?: readonly HookEvent[];
  /** Where it says that its own record of the run lies: what the run used is read from there. */
  readonly transcript?: (native: Readonly<Record<string, unknown>>) => string | undefined;
  /** Another program runs these hooks as well, beside its own: what it says is heard there. */
  readonly isForeign?: (native: Readonly<Record<string, unknown>>) => boolean;
}

/** How agents start our programs: by name, out of the repository's own packages, or where they lie on this machine alone. */
export interface Programs {
  readonly by: 'name' | 'package' | 'path';
  readonly bridge: readonly string[];
  /** To a shell. `top`: how the client names the top of the repository there; npx finds the package without, but takes its time. */
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

/** What is to stand in one file. */
export interface FileSpec {
  readonly path: string;
  /** `machine`: one file for all repositories. */
  readonly scope: 'repository' | 'machine';
  readonly entries: readonly ConfigEntry[];
  /** What the person has to do once it is written. */
  readonly note?: string;
}

/** What setup wants to stand in a file. Data: it is written down, so that it can be found and taken out again. */
export type ConfigEntry = MemberEntry | ItemEntry | TableEntry | WholeEntry;

interface NamedEntry {
  /** As people call it: `server entry`, `SessionStart hook`. */
  readonly what: string;
}

/** A member of an object in JSON. Of one that is an object itself its own keys are meant: others may stand beside them. */
export interface MemberEntry extends NamedEntry {
  readonly kind: 'member';
  readonly at: readonly string[];
  readonly value: unknown;
  /** Only where there is none; it stays when the rest is taken out, for what others have added. */
  readonly isDefault?: true;
}

/** An element of a list in JSON: a hook, or a group of hooks. What it says is set in it; more may stand beside that. */
export interface ItemEntry extends NamedEntry {
  readonly kind: 'item';
  readonly list: readonly string[];
  readonly value: unknown;
  /** A pattern: commands and addresses that fit it are ours, of whichever version. */
  readonly ours: string;
}

/** A table in TOML, one key a line. */
export interface TableEntry extends NamedEntry {
  readonly kind: 'table';
  readonly at: readonly [string, string];
  readonly value: Readonly<Record<string, unknown>>;
}

/** A file that is ours alone. */
export interface WholeEntry extends NamedEntry {
  readonly kind: 'whole';
  readonly text: string;
  /** Only where there is none. */
  readonly isDefault?: true;
}

/**
 * How an agent program is started: data, so that a user can add one or change one in `config.toml` (`[launchers.<name>]`).
 * In `args`, `headless_args` and `env` these are replaced: {{prompt}}, {{mcp_url}}, {{mcp_config}} (the folder with the files
 * below), {{instance_id}}, {{worktree}}.
 */
export interface Launcher {
  readonly command: string;
  /** With a terminal. */
  readonly args: readonly string[];
  /** Without one, where there is no tmux. Default: as with one. */
  readonly headless_args?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables that it gets of the server's own environment: the key of its model, say. */
  readonly pass_env: readonly string[];
  /** `argument`: by {{prompt}} in its arguments. `typed`: typed into its terminal once it runs. `stdin`: written to its input. `file`: only in {{mcp_config}}/prompt.md. */
  readonly prompt: 'argument' | 'typed' | 'stdin' | 'file';
  /** The one workspace that has it; else every one. */
  readonly workspace?: string | undefined;
}

/** A client that the server can start by itself. */
export interface InstanceClient {
  /** What instances and `[launchers.<name>]` call it. */
  readonly agent: string;
  /** What a registered agent of it is. */
  readonly runtime: 'claude_code' | 'codex' | 'gemini' | 'opencode';
  readonly launcher: Launcher;
  /** A file of {{mcp_config}} that tells it of the server, where its arguments do not. The token is named, never written. */
  readonly serverFile?: { readonly name: string; readonly content: (mcpUrl: string) => unknown };
}
