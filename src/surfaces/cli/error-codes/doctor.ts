import type { ErrorCodes } from './index.ts';

export const doctorCodes = {
  AGENTS_LEFT: {
    meaning: 'Ended agents left worktrees or processes behind.',
    cause: 'An agent or server was killed before it cleaned up.',
    next: 'Run `covenant doctor --fix`. For a worktree with unsaved work, run `covenant doctor --fix --force PATH`. A git ref then keeps a backup of the work.',
  },
  BACKUP_MISSING: {
    meaning: 'The database has no backup.',
    cause: '`covenant backup` was never run.',
    next: 'Run `covenant backup`.',
  },
  BACKUP_OLD: {
    meaning: 'The last backup is old.',
    cause: '`covenant backup` has not run for days.',
    next: 'Run `covenant backup`, or schedule it.',
  },
  CLOCK_BEHIND: {
    meaning: 'The time of the newest event is in the future.',
    cause: 'The clock of this machine was set back.',
    next: 'Set the clock: `timedatectl set-ntp true`.',
  },
  CLOCK_SKEW: {
    meaning: 'The clocks of the server and the database differ.',
    cause: 'One of the machines does not synchronize its time.',
    next: 'Run `timedatectl set-ntp true` on both machines.',
  },
  CONNECTIONS_LOW: {
    meaning: 'PostgreSQL has few or no connections left.',
    cause: 'Other programs use the connections, or `max_connections` is low.',
    next: 'Raise `max_connections`, or end idle sessions listed in `pg_stat_activity`.',
  },
  DATABASE_DAMAGED: {
    meaning: 'The database file is damaged.',
    cause: 'The disk has a fault, or another program changed the file.',
    next: 'Run `covenant restore FILE` with a backup.',
  },
  DISK_FULL: {
    meaning: 'The disk has little or no space left.',
    cause: 'The database, backups or other programs use the space.',
    next: 'Free space on the disk that the message names.',
  },
  EXTERNAL_SERVER_FAILING: {
    meaning: 'An external MCP server is failing.',
    cause: 'The external server ends, does not answer or cannot be started.',
    next: 'Run `covenant servers logs NAME`, then `covenant servers restart NAME`.',
  },
  GIT_MISSING: {
    meaning: 'git is not installed.',
    cause: 'Worktrees and reviews need git.',
    next: "Install git on the server's machine.",
  },
  HOME_OPEN: {
    meaning: 'Other users can read or change files of the home.',
    cause: 'The permissions of the file or folder are too wide.',
    next: 'Run the `chmod` command that the message shows.',
  },
  HOME_READ_ONLY: {
    meaning: 'Covenant cannot write to its home.',
    cause: 'The account that runs Covenant does not own it.',
    next: 'Run `chown -R USER FOLDER` as the message shows.',
  },
  JOURNAL_BROKEN: {
    meaning: "The journal's hash chain is broken.",
    cause: 'An event was changed or removed outside Covenant, or the database was replaced with a copy.',
    next: 'Run `covenant audit verify`, and compare the journal with your last anchor. After restoring a copy, run `covenant audit anchor --after-restore` while the server is stopped.',
  },
  LEFTOVER_FILES: {
    meaning: 'A command left a temporary file behind.',
    cause: 'The command was killed.',
    next: 'Delete the file that the message names.',
  },
  NODE_TOO_OLD: {
    meaning: 'Node is too old for the server.',
    cause: 'The server needs Node 22.13 or newer.',
    next: 'Install Node 24: `npm install --global node@24`.',
  },
  OTHER_VERSION: {
    meaning: 'The server and this program have different versions.',
    cause: 'Covenant was updated while the server ran.',
    next: 'Stop the server and run `covenant up`.',
  },
  OTLP_UNREACHABLE: {
    meaning: 'The telemetry collector cannot be reached.',
    cause: 'The OTLP endpoint is wrong, or no collector is listening.',
    next: 'Start the collector, correct OTEL_EXPORTER_OTLP_ENDPOINT, or set OTEL_SDK_DISABLED=true.',
  },
  POSTGRES_REFUSED: {
    meaning: 'PostgreSQL refuses the connection.',
    cause: 'The user, password or database in `database_url` is wrong.',
    next: 'Correct `database_url` or DATABASE_URL.',
  },
  POSTGRES_TOO_OLD: {
    meaning: 'PostgreSQL is too old.',
    cause: 'The server needs a newer version.',
    next: 'Upgrade PostgreSQL to the version that the message names.',
  },
  POSTGRES_UNREACHABLE: {
    meaning: 'PostgreSQL cannot be reached.',
    cause: 'PostgreSQL is not running, or `database_url` contains the wrong address.',
    next: 'Start PostgreSQL, or correct `database_url`.',
  },
  REPOSITORIES_MISSING: {
    meaning: 'A folder in the setting `repositories` does not exist.',
    cause: 'It was moved or deleted, or config.toml has a typing error.',
    next: 'Create the folder, or remove it from `repositories` under `[machine]` in config.toml.',
  },
  RUN_FILE_STALE: {
    meaning: 'server.json names a server that no longer runs.',
    cause: 'The server was killed, or the machine crashed.',
    next: 'Run `covenant up`, which replaces the file.',
  },
  SCHEMA_DAMAGED: {
    meaning: 'The database lacks parts of its schema.',
    cause: 'A table or index was dropped outside Covenant.',
    next: 'Stop every server and restore a backup with `pg_restore`. Then, for each workspace, run `covenant audit anchor --after-restore --workspace NAME` before you start a server.',
  },
  SERVER_HUNG: {
    meaning: 'The server process does not answer.',
    cause: 'The process hangs, or it is overloaded.',
    next: 'End the process as the message shows, then run `covenant up`.',
  },
  SERVER_UNHEALTHY: {
    meaning: 'The server reports a fault.',
    cause: 'One of its health checks fails.',
    next: "Correct the other findings of `covenant doctor`, and read the server's log.",
  },
  SETTINGS_NOT_READ: {
    meaning: 'The running server has not read a changed setting of config.toml.',
    cause: 'The server reads settings only when it starts.',
    next: 'Stop the server and run `covenant up`.',
  },
  TMUX_MISSING: {
    meaning: 'tmux is not installed.',
    cause: 'Agents run without tmux, but you cannot attach to their terminal.',
    next: "Install tmux on the server's machine.",
  },
  TOKEN_EXPIRING: {
    meaning: 'A token expires soon.',
    cause: 'Agent tokens are valid for 90 days unless set otherwise.',
    next: 'Run `covenant tokens rotate TOKEN_ID`.',
  },
} satisfies ErrorCodes;
