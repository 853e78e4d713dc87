/** Headers of our own, between the server and the programs and pages that call it. */

/** Names the workspace that a call of the operator is meant for. The server refuses it from anybody else. */
export const WORKSPACE_HEADER = 'x-covenant-workspace';
/** The path of the main checkout that the caller of a bridge or the CLI works in. */
export const REPOSITORY_HEADER = 'x-covenant-repository';
/** That folder, its repository and branch, by the names that a team uses: `CallerPlace` as JSON. */
export const PLACE_HEADER = 'x-covenant-place';
/** `cli`: the call comes from the command line. */
export const SURFACE_HEADER = 'x-covenant-surface';
/** By which the dashboard's page shows that it is of this origin. */
export const PROOF_HEADER = 'x-covenant-proof';
/** Of a hook's answer: `1` where the workspace holds edits back while the server cannot be asked, else `0`. */
export const FAIL_CLOSED_HEADER = 'x-covenant-fail-closed';
/** Of a hook's answer: the session of ours that the run has. */
export const SESSION_HEADER = 'x-covenant-session';
