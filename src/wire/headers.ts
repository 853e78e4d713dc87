/** Our own HTTP headers, between the server and the programs and pages that call it. */

/** Names the workspace that an operator's call is for. The server refuses it from anyone else. */
export const WORKSPACE_HEADER = 'x-covenant-workspace';
/** The path of the main checkout that the caller of a bridge or the CLI works in. */
export const REPOSITORY_HEADER = 'x-covenant-repository';
/** The caller's folder, repository and branch, by the names that a team uses: `CallerPlace` as JSON. */
export const PLACE_HEADER = 'x-covenant-place';
/** `cli`: the call comes from the command line. */
export const SURFACE_HEADER = 'x-covenant-surface';
/** With this proof the dashboard's page shows that it comes from this origin. */
export const PROOF_HEADER = 'x-covenant-proof';
/** In a hook's answer: `1` if the workspace blocks edits while the server is unreachable, otherwise `0`. */
export const FAIL_CLOSED_HEADER = 'x-covenant-fail-closed';
/** In a hook's answer: the Covenant session of the run. */
export const SESSION_HEADER = 'x-covenant-session';
