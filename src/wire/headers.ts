/** Our own HTTP headers, between the server and the programs and pages that call it. */

/** The workspace in which an operator's call runs. The server refuses this header from all other callers. */
export const WORKSPACE_HEADER = 'x-covenant-workspace';
/** The path of the main checkout of the repository in which the bridge or the CLI runs. */
export const REPOSITORY_HEADER = 'x-covenant-repository';
/** The caller's folder, repository and branch: the type `CallerPlace` as JSON. */
export const PLACE_HEADER = 'x-covenant-place';
/** `cli`: the call comes from the command line. */
export const SURFACE_HEADER = 'x-covenant-surface';
/** The secret with which a page of the dashboard proves that it comes from the server's own origin. */
export const PROOF_HEADER = 'x-covenant-proof';
/** In a hook's answer: `1` if the workspace blocks edits while the server is unreachable, otherwise `0`. */
export const FAIL_CLOSED_HEADER = 'x-covenant-fail-closed';
/** In a hook's answer: the Covenant session of the run. */
export const SESSION_HEADER = 'x-covenant-session';
