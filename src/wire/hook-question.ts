/**
 * What a hook asks and is answered, the same for every client. Names, ids, paths and numbers: no field can hold a prompt, an
 * answer of a model, a transcript, a command or what stands in a file.
 */

/** When a client calls. `commit` and `push` are git's. */
export const HOOK_EVENTS = ['session-start', 'session-end', 'prompt', 'before-tool', 'after-tool', 'stop', 'compact', 'commit', 'push'] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** The number of edits in one question. If there are more, an `unread` edit stands for the rest. */
export const MAX_EDITS = 500;
/** Files of the working tree that are told of at once. */
export const MAX_FILES = 5_000;
/** In characters. Whoever asks cuts what is longer; the server refuses it. */
export const LONGEST = { path: 500, folder: 1_000, branch: 300, name: 200, model: 100 } as const;

/** The top of a working tree, as a path in it. */
export const TOP = '.';

/** A path that is about to be written: absolute, or relative to the working folder. */
export interface WrittenPath {
  readonly path: string;
  /** Where it is a folder, all that lies beneath it is meant. */
  readonly tree?: boolean;
  /** It is taken away or moved itself: of a symbolic link, the link and not what it leads to. */
  readonly removed?: boolean;
  /** What is meant lies here, from the top of the working tree around `path`. */
  readonly fromTop?: string;
}

/** A file that is about to be written, or is in a commit. */
export interface Edit {
  /** As the remote is called, or the folder's name where there is none. */
  readonly repo: string;
  /** From the top of its working tree. */
  readonly path: string;
  /** A folder, with all that lies beneath it. */
  readonly tree?: boolean | undefined;
  /** It stands for files of this repository that could not be named: there were too many, or nobody could read so long a command. */
  readonly unread?: boolean | undefined;
}

export interface HookQuestion {
  /** The client's own id of this run. */
  readonly client_session?: string | undefined;
  /** Where the run stands. */
  readonly folder?: string | undefined;
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
  /** Why a session starts. */
  readonly source?: 'startup' | 'resume' | 'clear' | 'compact' | undefined;
  readonly model?: string | undefined;
  /** The tool's name alone. */
  readonly tool?: string | undefined;
  readonly edits?: readonly Edit[] | undefined;
  /** The `session_id` of ours that a call of this run named or was given: that session is this run's. */
  readonly session_id?: string | undefined;
  /** It was given: a `covibe_session start` of this very run was answered with it. */
  readonly session_started?: boolean | undefined;
  /** The client goes on already because a stop was answered so. */
  readonly again?: boolean | undefined;
  /** Paths from the top of the working tree. */
  readonly dirty_files?: readonly string[] | undefined;
  readonly unpushed_files?: readonly string[] | undefined;
  readonly unpushed_commits?: number | undefined;
  /** A person commits or pushes: what their own agents have claimed is theirs. */
  readonly person?: boolean | undefined;
}

export interface HookAnswer {
  /** `deny`: the edit, commit or push is not made; of a stop: go on working. */
  readonly decision: 'allow' | 'deny';
  /** Of a denial, for the agent: who holds what, why, and what to do. */
  readonly reason: string | null;
  /** To be put into the agent's context. */
  readonly context: string | null;
  /** For the person at the client. */
  readonly notice: string | null;
  /** The session of ours that this run has. */
  readonly session_id: string | null;
  /** Whether edits wait where the server cannot be asked: the client's side remembers it. */
  readonly fail_closed: boolean;
}

/** The fields of an answer that differ from a silent `allow`. */
export type HookReply = Partial<Omit<HookAnswer, 'fail_closed'>>;
