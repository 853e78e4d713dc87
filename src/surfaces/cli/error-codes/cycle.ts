import type { ErrorCodes } from './index.ts';

export const cycleCodes = {
  ARCHIVE_NOT_ALLOWED: {
    meaning: 'The cycle is not complete, so it cannot be archived.',
    cause: 'A cycle can be archived only from its last phase.',
    next: 'Make the call that the message names for this phase. After `cycle.complete`, call `cycle.archive`.',
  },
  AUTH_FAILED: {
    meaning: 'The PSK of the role is wrong.',
    cause: 'The PSK in the call to `session.open` differs from the PSK in `.mcp-broker/config.json`.',
    next: 'Read the PSK of your role in `.mcp-broker/config.json`, then call `session.open` again. After five failures, the server makes you wait.',
  },
  CONFIG_INVALID: {
    meaning: 'A configuration file is not valid, or the server may not use the repository.',
    cause: 'config.toml, or `.mcp-broker/config.json` of a repository, has a wrong or missing setting.',
    next: 'Correct the setting that the message names. `covenant doctor` checks config.toml, and `covenant cycle init` checks `.mcp-broker/config.json`. Restart the server after a change of config.toml.',
  },
  CONFIG_NOT_WRITTEN: {
    meaning: '`.mcp-broker/config.json` could not be written.',
    cause: 'The folder is read-only for this user.',
    next: 'Give your user write access to the repository, then run `covenant cycle init` again.',
  },
  CONFIG_TRACKED: {
    meaning: 'git tracks the file with the PSKs of the roles.',
    cause: 'A commit and a push would publish these secrets.',
    next: 'Run `git rm --cached .mcp-broker/config.json`, commit, then run `covenant cycle init` again.',
  },
  CYCLE_ALREADY_ACTIVE: {
    meaning: 'The repository already has an active cycle.',
    cause: 'A repository can have only one active cycle.',
    next: 'Continue that cycle: `cycle.status` shows its phase and role. Or ask the operator to run `covenant cycle cancel --repo PATH --reason TEXT`, with `--workspace NAME` if the cycle belongs to another workspace.',
  },
  CYCLE_NOT_FOUND: {
    meaning: 'There is no cycle with this id.',
    cause: 'The id is wrong, or the cycle belongs to another repository.',
    next: 'Run `covenant cycle history`.',
  },
  INTERNAL_ERROR: {
    meaning: 'The server failed to handle the call. The cycle contract uses this code for INTERNAL.',
    cause: 'The server has a fault.',
    next: "Call `cycle.status`, then repeat the call if the change is missing. If it fails again, ask the operator to search the server's log for the reference in the message.",
  },
  INVALID_PHASE: {
    meaning: 'The current phase does not allow this call.',
    cause: 'The call belongs to another phase of the cycle.',
    next: 'Make one of the calls that the message names. `cycle.status` shows `phase` and `active_role`.',
  },
  INVALID_ROLE: {
    meaning: 'There is no such role.',
    cause: "The role is misspelt, or the repository's configuration does not define it.",
    next: 'Use one of the roles that the message names.',
  },
  INVALID_SESSION: {
    meaning: 'The session token of the role is not valid.',
    cause: 'It has expired, was closed or belongs to another repository.',
    next: 'Call `session.open` again for your role and use the new `session_token`.',
  },
  INVALID_TARGET: {
    meaning: '`target` is not a role of this repository.',
    cause: 'The role is misspelt, or the configuration does not define it.',
    next: 'Use one of the roles that the message names.',
  },
  LOCK_DENIED: {
    meaning: "It is not this role's turn, or the lock token is no longer valid.",
    cause: 'Another role has the turn, or the lock token changed when the turn passed to another role.',
    next: 'Call `cycle.status` until `active_role` is your role. Then call `lock.acquire` with your `session_token`, and use the `lock_token` that it returns.',
  },
  NO_ACTIVE_CYCLE: {
    meaning: 'The repository has no active cycle.',
    cause: 'No cycle was started, or the last cycle has ended.',
    next: 'Call `cycle.start`, or run `covenant cycle start --feature NAME`.',
  },
  PHASE_NOT_REACHED: {
    meaning: 'The cycle ended without reaching this phase.',
    cause: 'The cycle was completed or cancelled before it reached the phase.',
    next: 'Run `covenant cycle history` to see how it ended.',
  },
  SCHEMA_INVALID: {
    meaning: 'An input field is not valid. The cycle contract uses this code for INVALID_INPUT.',
    cause: 'A field is missing, unknown or has the wrong type.',
    next: 'Correct the fields that `details.issues` names, then call again.',
  },
} satisfies ErrorCodes;
