/** What one report of a machine or a working tree may carry. Published, and the same on every surface. */
export const MAX_VERSION_CHARACTERS = 64;
export const MAX_REGISTERED_REPOS = 200;
export const MAX_FILES = 500;
export const MAX_COMMITS = 50;
export const MAX_ACTIVITY_CHARACTERS = 500;

/** Older lines of a session are forgotten. */
export const ACTIVITY_KEPT = 200;

/** How long a reported file counts as being in hand: a machine that is at work reports again long before. */
export const SNAPSHOT_HOLDS_MS = 24 * 3_600_000;
/** A working tree that nobody reports any more leaves the graph. */
export const WORKTREE_FORGOTTEN_MS = 30 * 24 * 3_600_000;
