/**
 * The question and answer of a hook, the same for every client. They have only names, ids, paths and numbers: no field can contain a prompt, a model's answer,
 * a transcript, a command or file content.
 */

/** The events at which a client calls. `commit` and `push` are git's. */
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
  /** If the path is a folder, everything below it is meant. */
  readonly tree?: boolean;
  /** The path itself is removed or moved: for a symbolic link, the link and not its target. */
  readonly removed?: boolean;
  /** If set, the edit is at this path, relative to the top of the working tree that contains `path`. */
  readonly fromTop?: string;
}

/** A file that is about to be written, or is part of a commit. */
export interface Edit {
  /** The remote's address, or the folder's name if there is no remote. */
  readonly repo: string;
  /** Relative to the top of its working tree. */
  readonly path: string;
  /** A folder with everything below it. */
  readonly tree?: boolean | undefined;
  /** Stands for files of this repository that could not be named, because there were too many or the command was too long. */
  readonly unread?: boolean | undefined;
}

export interface HookQuestion {
  /** The client's own id of this run. */
  readonly client_session?: string | undefined;
  /** The folder in which the run works. */
  readonly folder?: string | undefined;
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
  /** Why a session starts. */
  readonly source?: 'startup' | 'resume' | 'clear' | 'compact' | undefined;
  readonly model?: string | undefined;
  /** Only the tool's name. */
  readonly tool?: string | undefined;
  readonly edits?: readonly Edit[] | undefined;
  /** The Covenant `session_id` that a call of this run named or received: it is this run's session. */
  readonly session_id?: string | undefined;
  /** True if a `covibe_session start` of this run returned it. */
  readonly session_started?: boolean | undefined;
  /** The client is already continuing because an earlier stop was denied. */
  readonly again?: boolean | undefined;
  /** Paths relative to the top of the working tree. */
  readonly dirty_files?: readonly string[] | undefined;
  readonly unpushed_files?: readonly string[] | undefined;
  readonly unpushed_commits?: number | undefined;
  /** A person commits or pushes. Claims of their own agents do not block them. */
  readonly person?: boolean | undefined;
}

export interface HookAnswer {
  /** `deny`: the edit, commit or push is blocked. At a stop: the agent must continue. */
  readonly decision: 'allow' | 'deny';
  /** For a denial: who holds the claim, why, and what to do. Shown to the agent. */
  readonly reason: string | null;
  /** Text to add to the agent's context. */
  readonly context: string | null;
  /** For the person at the client. */
  readonly notice: string | null;
  /** The Covenant session of this run. */
  readonly session_id: string | null;
  /** Whether edits are blocked while the server is unreachable. The companion stores this. */
  readonly fail_closed: boolean;
}

/** The fields of an answer that differ from a silent `allow`. */
export type HookReply = Partial<Omit<HookAnswer, 'fail_closed'>>;
