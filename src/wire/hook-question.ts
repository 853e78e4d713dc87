/**
 * The question that a hook sends to the server, and the answer. Both are the same for every client. They contain only names, ids,
 * paths and numbers: no field can contain a prompt, a model's answer, a transcript, a command or file content.
 */

/** The events at which a client calls its hooks. `commit` and `push` are events of git. */
export const HOOK_EVENTS = ['session-start', 'session-end', 'prompt', 'before-tool', 'after-tool', 'stop', 'compact', 'commit', 'push'] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** The maximum number of edits in one question. If there are more, an `unread` edit stands for the rest. */
export const MAX_EDITS = 500;
/** The maximum number of working tree files in one report. */
export const MAX_FILES = 5_000;
/** The maximum lengths in characters. The sender shortens longer values; the server refuses them. */
export const LONGEST = { path: 500, folder: 1_000, branch: 300, name: 200, model: 100 } as const;

/** The path that stands for the top folder of a working tree. */
export const TOP = '.';

/** A path that is about to be written: absolute, or relative to the working folder. */
export interface WrittenPath {
  readonly path: string;
  /** True if everything below the path is written as well, in case the path is a folder. */
  readonly tree?: boolean;
  /** True if the path itself is removed or moved. For a symbolic link this means the link, not its target. */
  readonly removed?: boolean;
  /** If set, this path is written, not `path`. It is relative to the top of the working tree that contains `path`. */
  readonly fromTop?: string;
}

/** A file that is about to be written, or is part of a commit. */
export interface Edit {
  /** The remote's address, or the folder's name if there is no remote. */
  readonly repo: string;
  /** The path of the file, relative to the top of its working tree. */
  readonly path: string;
  /** True if `path` is a folder and the edit concerns everything below it. */
  readonly tree?: boolean | undefined;
  /** True if the edit stands for files of this repository that could not be listed, because there were too many or the command was too long. */
  readonly unread?: boolean | undefined;
}

export interface HookQuestion {
  /** The client's own id of this run. */
  readonly client_session?: string | undefined;
  /** The folder in which the run works. */
  readonly folder?: string | undefined;
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
  /** The reason why the session starts. */
  readonly source?: 'startup' | 'resume' | 'clear' | 'compact' | undefined;
  readonly model?: string | undefined;
  /** The name of the tool, without its arguments. */
  readonly tool?: string | undefined;
  readonly edits?: readonly Edit[] | undefined;
  /** The Covenant session of this run: the `session_id` that a tool call of the run sent or received. */
  readonly session_id?: string | undefined;
  /** True if this run received `session_id` as the answer to `covibe_session start`. */
  readonly session_started?: boolean | undefined;
  /** True if the client is only continuing because an earlier stop was denied. */
  readonly again?: boolean | undefined;
  /** Paths relative to the top of the working tree. */
  readonly dirty_files?: readonly string[] | undefined;
  readonly unpushed_files?: readonly string[] | undefined;
  readonly unpushed_commits?: number | undefined;
  /** True if a person and not an agent commits or pushes. Claims of the person's own agents do not block this. */
  readonly person?: boolean | undefined;
}

export interface HookAnswer {
  /** `deny`: the edit, commit or push is blocked. At a stop: the agent must continue. */
  readonly decision: 'allow' | 'deny';
  /** For a denial: who holds the claim, why, and what to do. Shown to the agent. */
  readonly reason: string | null;
  /** Text to add to the agent's context. */
  readonly context: string | null;
  /** A message for the person who uses the client. */
  readonly notice: string | null;
  /** The Covenant session of this run. */
  readonly session_id: string | null;
  /** Whether edits are blocked while the server is unreachable. The companion stores this. */
  readonly fail_closed: boolean;
}

/** The fields of an answer that differ from a silent `allow`. */
export type HookReply = Partial<Omit<HookAnswer, 'fail_closed'>>;
