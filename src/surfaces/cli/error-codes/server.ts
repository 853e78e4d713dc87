import type { ErrorCodes } from './index.ts';

export const serverCodes = {
  BACKUP_ALTERED: {
    meaning: 'The backup is not a database that Covenant wrote.',
    cause: 'Its schema has parts that Covenant never writes, or its folder contains something that is not a plain file.',
    next: 'Give the path of another backup. Nothing was changed.',
  },
  BACKUP_UNUSABLE: {
    meaning: 'The backup cannot be restored.',
    cause: 'The file is damaged, or it is not a Covenant database of this version.',
    next: 'Give the path of another backup to `covenant restore`.',
  },
  CHAIN_BROKEN: {
    meaning: 'The hash chain of the journal is broken.',
    cause: 'An event was changed or removed outside Covenant, or the disk is damaged.',
    next: 'Keep a copy with `covenant backup`. Then run `covenant audit verify --anchor FILE`, which compares the journal with your last anchor.',
  },
  COLLIDES: {
    meaning: 'A row of the import has the same key as a row of another workspace in this database.',
    cause: 'The same workspace was imported earlier under another name, or the export was edited.',
    next: 'Import into an empty database: set another COVENANT_HOME or DATABASE_URL. Nothing was changed.',
  },
  DATABASE_IN_USE: {
    meaning: 'Another program has the database open.',
    cause: 'A server or another command is using the file.',
    next: 'Find the program with `fuser FILE` and stop it, then repeat the command.',
  },
  EXPORT_NEWER: {
    meaning: 'The export was written by a newer Covenant.',
    cause: 'This program does not support the newer format or schema of the export.',
    next: 'Import it with the version that the message names, or a newer one.',
  },
  EXPORT_OLDER: {
    meaning: 'The export was written by an older Covenant.',
    cause: 'Covenant migrates databases, but not export files.',
    next: 'Import it with the version that the message names. Then start this version with the database that you imported into.',
  },
  FILE_DAMAGED: {
    meaning: 'The export file is damaged.',
    cause: 'A line is missing, changed or cut.',
    next: 'Run `covenant export` again and import the new file. Nothing was changed.',
  },
  INTERNAL: {
    meaning: 'The server or the program failed in an unexpected way.',
    cause: 'This is a fault of Covenant.',
    next: "Check whether the change was made, and call again only if it is missing. If it fails again, the operator runs `covenant doctor` and searches the server's log for the reference, if the message has one.",
  },
  INTERRUPTED: {
    meaning: 'The command was interrupted.',
    cause: 'Somebody pressed Ctrl-C or stopped the process.',
    next: 'Run the command again.',
  },
  JOURNAL_EMPTY: {
    meaning: 'The journal has no event yet.',
    cause: 'The workspace is new, so there is nothing to anchor.',
    next: 'Run `covenant audit anchor` after the first events.',
  },
  JOURNAL_NEEDED: {
    meaning: 'The events cannot be pruned yet.',
    cause: 'Work in progress, or a demo, still needs them.',
    next: 'Follow the next step of the message, then run `covenant audit prune` again.',
  },
  JOURNAL_PRUNED: {
    meaning: 'The journal was pruned while it was read.',
    cause: 'Another command pruned it at the same time.',
    next: 'Run the command again.',
  },
  NOTHING_TO_EXPORT: {
    meaning: 'There is no database to export.',
    cause: 'The home has no data yet, or COVENANT_HOME names another folder.',
    next: 'Set COVENANT_HOME to the home that has the data.',
  },
  NOT_AN_EXPORT: {
    meaning: 'The file was not written by `covenant export`.',
    cause: 'The path leads to a file of another kind.',
    next: 'Give the path of a file that `covenant export` wrote.',
  },
  OUTCOME_UNKNOWN: {
    meaning: 'It is not known whether the change was made.',
    cause: 'The connection to the database broke during the write.',
    next: 'Check whether the change was made, and repeat the call only if it is missing.',
  },
  ROW_REFUSED: {
    meaning: 'The export contains a row that no server writes.',
    cause: 'The file was edited or forged.',
    next: 'Get another export. Nothing was changed.',
  },
  ROW_UNREADABLE: {
    meaning: 'A row of the database cannot be exported.',
    cause: 'The row was changed outside Covenant or is damaged.',
    next: 'Correct the row in the database, or restore a backup of the database.',
  },
  SCHEMA_MISMATCH: {
    meaning: 'The database belongs to another version of Covenant.',
    cause: 'Its schema is newer or older than this program can use.',
    next: 'Run `covenant doctor`. It shows which schema the database has, and what to start or restore.',
  },
  SHUTTING_DOWN: {
    meaning: 'The server is stopping.',
    cause: 'Somebody stopped or restarted it.',
    next: 'When the server runs again, check whether the change was made, and repeat the call only if it is missing.',
  },
  STORE_BUSY: {
    meaning: 'The database is busy.',
    cause: 'Another program or a long write keeps the database locked.',
    next: 'Repeat the call in a few seconds. If it stays busy, run `covenant doctor`.',
  },
  STORE_UNWRITABLE: {
    meaning: 'The database cannot be written.',
    cause: 'The disk is full or read-only.',
    next: "Free space on the server's disk or make it writable, then repeat the call.",
  },
  UNSUPPORTED: {
    meaning: 'PostgreSQL does not support this command.',
    cause: '`covenant backup` and `covenant restore` copy the SQLite file.',
    next: 'Back up with `pg_dump`. To restore, stop every server and run `pg_restore`. Then, for each workspace, run `covenant audit anchor --after-restore --workspace NAME` before you start a server.',
  },
  UNVERIFIED: {
    meaning: 'The export says that the hash chain of its journal was broken.',
    cause: 'It was written with `covenant export --unverified`.',
    next: 'To import it anyway, run `covenant import FILE --unverified`. Otherwise use another export.',
  },
  WORKSPACE_IN_USE: {
    meaning: 'The workspace already has data in this database.',
    cause: 'A workspace can be imported only if this database contains no data of that workspace.',
    next: 'Import into an empty database: set another COVENANT_HOME or DATABASE_URL.',
  },
} satisfies ErrorCodes;
