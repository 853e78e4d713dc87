import { accessCodes } from './access.ts';
import { commandsCodes } from './commands.ts';
import { companionCodes } from './companion.ts';
import { cycleCodes } from './cycle.ts';
import { doctorCodes } from './doctor.ts';
import { reviewCodes } from './review.ts';
import { serverCodes } from './server.ts';
import { teamCodes } from './team.ts';
import { toolsCodes } from './tools.ts';
import { workflowCodes } from './workflow.ts';

/** Documents one error code. `covenant explain CODE` prints the text, and `npm run docs` writes it to docs/errors.md. */
export interface ErrorCode {
  readonly meaning: string;
  readonly cause: string;
  /** Gives calls and commands exactly. Words in capital letters stand for values that the error message contains. */
  readonly next: string;
}

export type ErrorCodes = Readonly<Record<string, ErrorCode>>;

/** All error codes, grouped by the part of the product that reports them. A test compares this list with the codes in the source. */
export const ERROR_CODE_GROUPS: Readonly<Record<string, ErrorCodes>> = {
  'Team: checks, sessions, claims and hand-offs': teamCodes,
  'Workflows: tasks, agents and messages': workflowCodes,
  'Reviews: instances, git and GitHub': reviewCodes,
  'Tools: grants, approvals and external servers': toolsCodes,
  'Cycles: roles, phases and hand-offs': cycleCodes,
  'Access: requests, tokens, sign-in and devices': accessCodes,
  'Server: database, journal and transfer': serverCodes,
  'Commands of `covenant`': commandsCodes,
  'Findings of `covenant doctor`': doctorCodes,
  'Companion and bridge: `covibe-local` and `covibe-mcp`': companionCodes,
};

export const ERROR_CODES: ErrorCodes = Object.assign({}, ...Object.values(ERROR_CODE_GROUPS));
