import type { ErrorCodes } from './index.ts';

export const commandsCodes = {
  ALREADY_RUNNING: {
    meaning: 'A server of this home is already running.',
    cause: '`covenant up` was started twice for one COVENANT_HOME.',
    next: 'Use the running server, or stop it first. To run a second server, set another COVENANT_HOME.',
  },
  AMBIGUOUS: {
    meaning: 'The given characters are the end of several ids.',
    cause: 'The given part of the id is too short to identify one object.',
    next: 'Give a longer part of the id.',
  },
  AMBIGUOUS_ID: {
    meaning: 'The given characters are the end of several ids.',
    cause: 'The given part of the id is too short to identify one object.',
    next: 'Give a longer part of the id.',
  },
  DEMO_KEPT: {
    meaning: 'The data of the last demo is still there.',
    cause: 'The demo was started with `--keep`.',
    next: 'Run `covenant demo --clean`, then `covenant demo`.',
  },
  DEMO_RUNNING: {
    meaning: 'A demo is running, or an earlier one did not finish.',
    cause: 'The demo runs in another terminal, or its process was killed.',
    next: 'Wait until the demo ends, or run `covenant demo --clean`.',
  },
  FILE_EXISTS: {
    meaning: 'The file already exists.',
    cause: 'The command never overwrites an existing file.',
    next: 'Give the path of a new file.',
  },
  FILE_NOT_FOUND: {
    meaning: 'There is no file at this path.',
    cause: 'The path is wrong.',
    next: 'Give the path of an existing file.',
  },
  FILE_UNREADABLE: {
    meaning: 'The file cannot be read.',
    cause: 'The path is wrong, or your user has no access.',
    next: 'Give the path of the tarball that `npm run package` made, and check its permissions.',
  },
  KEY_UNUSABLE: {
    meaning: 'The file does not contain a usable signing key.',
    cause: 'The file is not an Ed25519 key in PEM form.',
    next: 'Give the key file of your earlier releases: `--key FILE`. Create a new key only for your first release: `covenant companion keygen FILE`.',
  },
  NOT_AN_ANCHOR: {
    meaning: 'The file is not a valid anchor.',
    cause: 'The file was changed, or it is another kind of file.',
    next: 'Give a file from the `anchors` folder of a home, or the output of `covenant audit anchor --json`.',
  },
  NOT_A_FILE: {
    meaning: 'The path is not a plain file.',
    cause: 'The path leads to a folder, a pipe or a device.',
    next: 'Give the path of an export. Write the content of a pipe to a file first.',
  },
  NOT_FOLLOWED: {
    meaning: 'The command cannot receive new journal events from the server.',
    cause: 'The token does not have the right to read the journal, or the server has a fault.',
    next: 'Run `covenant doctor`.',
  },
  NOT_RUNNING: {
    meaning: 'The server or the instance is not running.',
    cause: 'It was not started, or it has ended.',
    next: 'For the server, run `covenant up`. For an instance that ended, run `covenant instances logs ID`.',
  },
  NOT_SERVING: {
    meaning: 'The agent needs a running server, and none is running.',
    cause: 'The server was not started, or it has stopped.',
    next: 'Run `covenant up` in another terminal, then start the instance again.',
  },
  NOT_WRITABLE: {
    meaning: 'A file or folder cannot be written.',
    cause: 'The disk is full, or your user has no access. Nothing was changed.',
    next: 'Free space, change the permissions or give another path, then run the command again.',
  },
  NO_ANCHORS: {
    meaning: 'The home has no anchors of this workspace.',
    cause: 'Neither the server nor `covenant audit anchor` has written an anchor in this home yet.',
    next: 'Run `covenant audit anchor` without `--after-restore`. Outside the default workspace, add `--workspace WORKSPACE`.',
  },
  NO_TERMINAL: {
    meaning: 'The command needs a terminal.',
    cause: 'Its output is piped or redirected.',
    next: 'Run it in a terminal, or use `covenant instances logs ID --follow`.',
  },
  PORT_IN_USE: {
    meaning: 'The port is in use.',
    cause: 'Another program listens on it.',
    next: 'Run `covenant up --port N` with another port, or stop the other program.',
  },
  SERVER_RUNNING: {
    meaning: 'The command needs the server to be stopped.',
    cause: 'A server of this home is running.',
    next: 'Stop the server, run the command, then start the server again.',
  },
  SERVER_TIMEOUT: {
    meaning: 'The server did not answer in time.',
    cause: 'It is overloaded, or the call waits for approval.',
    next: 'Run `covenant approvals list`. If the call waits there, repeat it after the approval. Otherwise check whether the change was made before you repeat it.',
  },
  SERVER_UNREACHABLE: {
    meaning: 'The server cannot be reached, or the connection broke before the answer.',
    cause: 'The server is not running, or its address is wrong.',
    next: 'Run `covenant status`, start the server with `covenant up`, or correct COVIBE_BASE_URL. Check whether the change was made before you repeat a call.',
  },
  SET_UP_ALREADY: {
    meaning: '`covibe-local setup` has already connected this agent in this repository.',
    cause: "The agent's configuration is managed by setup. Nothing was changed.",
    next: 'Run `covibe-local doctor`. To connect by hand, run `covibe-local setup --remove` first.',
  },
  UNKNOWN_CODE: {
    meaning: 'There is no error code with this name.',
    cause: 'The code is misspelt.',
    next: 'Run `covenant explain` to list all codes.',
  },
  USAGE: {
    meaning: 'The command was called wrongly.',
    cause: 'A command, argument or option is missing or unknown.',
    next: 'Run the command with `--help`.',
  },
  WORKSPACE_TAKEN: {
    meaning: 'The workspace "demo" contains work that no demo created.',
    cause: 'The demo never mixes its data with other data.',
    next: 'Run the demo with another COVENANT_HOME.',
  },
} satisfies ErrorCodes;
