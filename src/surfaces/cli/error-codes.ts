/** The entry of an error code in `covenant explain` and in docs/errors.md. */
export interface ErrorCodeEntry {
  readonly meaning: string;
  readonly cause: string;
  readonly next: string;
}

export const ERROR_CODES: Readonly<Record<string, ErrorCodeEntry>> = {
  CAPABILITY_DENIED: {
    meaning: 'The caller may not call this tool.',
    cause: 'No grant allows the tool, or the grant has expired or excludes these arguments.',
    next: 'Ask the operator to run `covenant capabilities explain TOOL`, then `covenant capabilities grant tool.call.TOOL`.',
  },
  TASK_NOT_FOUND: {
    meaning: 'No task has this id.',
    cause: 'The id is misspelled, or the task belongs to another workspace.',
    next: 'List the tasks: `covenant workflow tasks ID`.',
  },
  USAGE: {
    meaning: 'The command line is wrong.',
    cause: 'An unknown command or option, a missing argument, or a value of the wrong form.',
    next: 'Read the help of the command: `covenant COMMAND --help`.',
  },
};
