import type { ErrorCodes } from './index.ts';

export const cycleCodes = {
  ARCHIVE_NOT_ALLOWED: {
    meaning: 'The cycle is not complete, so it cannot be archived.',
    cause: 'A cycle is archived from its last phase only.',
    next: 'Call `cycle.complete` with the role of the phase, then `cycle.archive`.',
  },
  AUTH_FAILED: {
    meaning: 'The PSK of the role is wrong.',
    cause: '`session.open` was called with a PSK other than the one in `.mcp-broker/config.json`.',
    next: 'Read the PSK of your role and call `session.open` again. After five failures the server makes you wait.',
  },
  CONFIG_INVALID: {
    meaning: 'A configuration file is not valid.',
    cause: 'config.toml, or `.mcp-broker/config.json` of a repository, has a wrong or missing setting.',
    next: 'Correct the setting that the message names. `covenant doctor` checks config.toml, `covenant cycle init` the other.',
  },
  CONFIG_NOT_WRITTEN: {
    meaning: '`.mcp-broker/config.json` could not be written.',
    cause: 'The folder is read-only for this user.',
    next: 'Give your user write access to the repository, then run `covenant cycle init` again.',
  },
  CONFIG_TRACKED: {
    meaning: 'git tracks the file with the PSKs of the roles.',
    cause: 'It would be committed and pushed with its secrets.',
    next: 'Run `git rm --cached .mcp-broker/config.json`, commit, then run `covenant cycle init` again.',
  },
  CYCLE_ALREADY_ACTIVE: {
    meaning: 'The repository already has an active cycle.',
    cause: 'A repository has one active cycle at a time.',
    next: 'Complete and archive it, or the operator runs `covenant cycle cancel --reason TEXT`.',
  },
  CYCLE_NOT_FOUND: {
    meaning: 'There is no cycle with this id.',
    cause: 'The id is wrong, or the cycle belongs to another repository.',
    next: 'Run `covenant cycle history`.',
  },
  INTERNAL_ERROR: {
    meaning: 'The server failed to handle the call. This is INTERNAL in the cycle contract.',
    cause: 'The server has a fault.',
    next: "Look up the reference of the message in the server's log, then call again.",
  },
  INVALID_PHASE: {
    meaning: 'The present phase does not allow this call.',
    cause: 'The call belongs to another phase of the cycle.',
    next: 'Call `cycle.status` and follow its `next`.',
  },
  INVALID_ROLE: {
    meaning: 'There is no such role.',
    cause: "The role is misspelt, or the repository's configuration does not define it.",
    next: 'Use one of the roles that the message names.',
  },
  INVALID_SESSION: {
    meaning: 'The session token of the role is not valid.',
    cause: 'It has expired, was closed, or belongs to another repository.',
    next: 'Call `session.open` again for your role and use the new `session_token`.',
  },
  INVALID_TARGET: {
    meaning: 'There is no such role to hand over to.',
    cause: '`target` is misspelt or is not a role of the cycle.',
    next: 'Use one of the roles that the message names.',
  },
  LOCK_DENIED: {
    meaning: "It is not this role's turn, or its token is void.",
    cause: 'Another role has the turn, or holds the lock.',
    next: 'Call `cycle.status`. Wait until `activeRole` is your role, then call `lock.acquire`.',
  },
  NO_ACTIVE_CYCLE: {
    meaning: 'The repository has no active cycle.',
    cause: 'No cycle was started, or it has ended.',
    next: 'Call `cycle.start`, or run `covenant cycle start --feature NAME`.',
  },
  PHASE_NOT_REACHED: {
    meaning: 'The cycle ended without reaching this phase.',
    cause: 'The cycle was completed or cancelled first.',
    next: 'Run `covenant cycle history` to see how it ended.',
  },
  SCHEMA_INVALID: {
    meaning: 'An input field is not valid. This is INVALID_INPUT in the cycle contract.',
    cause: 'A field is missing, unknown or has the wrong type.',
    next: 'Correct the fields that `details.issues` names and call again.',
  },
} satisfies ErrorCodes;
