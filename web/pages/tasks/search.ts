import { type StatusChoice, statusOf } from './status.ts';

/** What the address of the list holds: nothing chosen means everything that is open. */
export interface TaskSearch {
  status?: StatusChoice;
  mine?: true;
  owner?: string;
  workstream?: string;
  /** The list goes on after this task: `<when it changed>.<its id>`. */
  before?: string;
  /** The task whose panel is open. */
  task?: string;
  /** The form to plan work is open. */
  plan?: true;
}

type Given = Record<string, unknown>;

/** A word of the address, which its parser may have taken for a number. */
const word = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

export function taskSearch({ status: given, mine, owner: name, workstream: stream, before: after, task: opened, plan }: Given): TaskSearch {
  const [status, owner, workstream, before, task] = [statusOf(given), word(name), word(stream), word(after), word(opened)];
  return {
    ...(status && { status }),
    ...(mine === true && { mine: true }),
    ...(owner && { owner }),
    ...(workstream && { workstream }),
    ...(before && { before }),
    ...(task && { task }),
    ...(plan === true && { plan: true }),
  };
}

export interface ClaimSearch {
  mine?: true;
  before?: string;
  /** The claim whose panel is open. */
  claim?: string;
}

export function claimSearch({ mine, before: after, claim: opened }: Given): ClaimSearch {
  const [before, claim] = [word(after), word(opened)];
  return { ...(mine === true && { mine: true }), ...(before && { before }), ...(claim && { claim }) };
}

export const SPANS = [14, 31] as const;

/** Nothing chosen means the last week. */
export interface WeekSearch {
  days?: (typeof SPANS)[number];
}

export function weekSearch({ days }: Given): WeekSearch {
  const span = SPANS.find((each) => each === days);
  return span ? { days: span } : {};
}
